/**
 * One execution environment of Lambda in a separate process: loads a bundle as the runtime does and answers events, one
 * message each. Unlike Lambda it handles events concurrently, which functions without state cannot detect.
 */
import { pathToFileURL } from 'node:url';

interface Message {
  readonly id: number;
  readonly event: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

const { handler } = await import(pathToFileURL(process.argv[2] ?? '').href);

process.on('message', async ({ id, event, context, deadline }: Message) => {
  try {
    const result = await handler(event, { ...context, getRemainingTimeInMillis: () => deadline - Date.now() });
    process.send?.({ id, result: JSON.stringify(result ?? null) });
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error;
    process.send?.({ id, failure: { errorType, errorMessage } });
  }
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });
