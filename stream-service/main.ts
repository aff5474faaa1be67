/** Entry point of the stream service's container. */
import { runTask } from './task/index.ts';

await runTask({ readEnvironment: () => process.env });
