import * as mediaTasks from '@reelay/seekable-media/tasks';
import { serveTasks } from './task.ts';
import * as tasks from './tasks.ts';

/** Entry of the processes that parse. */
serveTasks([
  ...Object.values(tasks),
  ...Object.values(mediaTasks).filter((task) => typeof task === 'object'),
  // Loaded when the first container is read: loading the library takes longer than most tasks.
  {
    ...tasks.READ_CONTAINER,
    run: async (request) => (await import('./container-reader.ts')).readContainer(request),
  },
]);
