import type { ParsingTask, TaskRequest, TaskResponse } from './task.ts';

/** Runs tasks for the parent process, one response per request. The process exits when its parent disconnects. */
export function serveTasks(tasks: readonly ParsingTask<never, unknown>[]): void {
  const byName = new Map(tasks.map((task) => [task.name, task]));

  const respond = async ({ name, input }: TaskRequest): Promise<TaskResponse> => {
    try {
      const run = byName.get(name)?.run;
      if (!run) throw new Error(`Unknown task ${name}`);
      return { output: await run(input as never) };
    } catch (error) {
      const thrown = error as Error;
      return { error: { className: thrown.constructor.name, message: thrown.message } };
    }
  };

  // Ctrl-C in a terminal must only end the service, which still answers requests then.
  process.on('SIGINT', () => undefined);
  process.on('message', async (request: TaskRequest) => void process.send?.(await respond(request)));
  process.send?.('ready');
}
