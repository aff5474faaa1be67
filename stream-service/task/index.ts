export { startTask } from './start-task.ts';
export { createTaskLog } from './task-log.ts';
export { readTaskSettings } from './task-settings.ts';
