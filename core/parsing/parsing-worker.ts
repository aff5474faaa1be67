import * as sourceTasks from '@reelay/source/parsing';
import * as mp4Tasks from './mp4-tasks.ts';
import { serveTasks } from './task.ts';
import * as tasks from './tasks.ts';

/** Entry of the processes that parse. */
serveTasks([
  ...Object.values(tasks),
  ...Object.values(mp4Tasks),
  ...Object.values(sourceTasks),
  // Loaded when the first container is read: loading the library takes longer than most tasks.
  {
    ...tasks.READ_CONTAINER,
    run: async (request) => (await import('./container-reader.ts')).readContainer(request),
  },
]);
