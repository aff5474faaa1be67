/** `npm start`: Reelay on one machine and one port. */
import { runService } from './run-service.ts';

await runService();
