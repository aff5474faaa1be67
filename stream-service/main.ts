/** Entry point of the stream service's container. */
import { collectWhenIdle } from './idle-collection.ts';
import { runTask } from './task/index.ts';

collectWhenIdle();
await runTask();
