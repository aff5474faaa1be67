import { InvokeCommand, type InvokeCommandInput, LambdaClient } from '@aws-sdk/client-lambda';

/** See `createInvoker`. */
export type Invoker = ReturnType<typeof createInvoker>;

/** Few: an entry of a playlist that stays throttled is resolved by its caller. */
const MAX_ATTEMPTS = 3;
/** Longer than a function that resolves may run. */
const CALL_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_SOCKETS = 128;
const MAX_QUOTED_CHARACTERS = 200;

/** Invokes other Lambda functions. */
export function createInvoker() {
  const client = new LambdaClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: CALL_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    },
  });
  const send = (invocation: Omit<InvokeCommandInput, 'Payload'>, event: unknown, abortSignal: AbortSignal) =>
    client.send(new InvokeCommand({ ...invocation, Payload: JSON.stringify(event) }), { abortSignal });
  return {
    /** Waits for the function's response. @throws Error when the function failed, or was not reached before the abort */
    async invoke(functionName: string, event: unknown, signal: AbortSignal): Promise<unknown> {
      const { FunctionError, Payload } = await send({ FunctionName: functionName }, event, signal);
      const text = Payload?.transformToString() ?? 'null';
      if (FunctionError) throw new Error(`${functionName} failed: ${text.slice(0, MAX_QUOTED_CHARACTERS)}`);
      return JSON.parse(text);
    },
    /** Queues the event and returns; Lambda runs the function later. @throws Error when the event was not accepted */
    async invokeAsync(functionName: string, event: unknown, signal: AbortSignal): Promise<void> {
      await send({ FunctionName: functionName, InvocationType: 'Event' }, event, signal);
    },
  };
}
