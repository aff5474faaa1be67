/** `npm start`: Reelay on one machine and one port. */
import { collectWhenIdle } from '../stream-service/index.ts';
import { runService } from './run-service.ts';

collectWhenIdle();
await runService();
