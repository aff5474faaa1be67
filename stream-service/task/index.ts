export { runTask } from './run-task.ts';
