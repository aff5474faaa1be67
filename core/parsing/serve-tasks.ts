import {
  type BufferPart,
  joinRequest,
  type ParsingTask,
  type SplitRequest,
  type TaskRequest,
  type TaskResponse,
} from './task.ts';

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
  const parts: Uint8Array[] = [];
  process.on('message', async (message: BufferPart | SplitRequest) => {
    if ('part' in message) parts.push(message.part);
    else process.send?.(await respond(joinRequest(message, parts.splice(0))));
  });
  process.send?.('ready');
}
