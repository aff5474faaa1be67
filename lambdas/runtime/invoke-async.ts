import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';

/** Calls other functions. */
export interface Invoker {
  /** What the function answered. @throws Error when it failed, or could not be called in time */
  call(functionName: string, event: unknown, signal: AbortSignal): Promise<unknown>;
  /** Hands it the event and does not wait for what comes of it. */
  tell(functionName: string, event: unknown, signal: AbortSignal): Promise<void>;
}

/** An account runs ten functions at once at first: a call that is refused for that is worth asking again. */
const ATTEMPTS = 5;
/** Milliseconds: longer than a function that resolves may run. */
const CALL_TIMEOUT = 30_000;
const MAX_SOCKETS = 128;

export function createInvoker(): Invoker {
  const client = new LambdaClient({
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: 2_000,
      requestTimeout: CALL_TIMEOUT,
      throwOnRequestTimeout: true,
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    },
  });
  const send = (
    FunctionName: string,
    event: unknown,
    InvocationType: 'Event' | 'RequestResponse',
    signal: AbortSignal,
  ) =>
    client.send(new InvokeCommand({ FunctionName, InvocationType, Payload: JSON.stringify(event) }), {
      abortSignal: signal,
    });
  return {
    async call(functionName, event, signal) {
      const { FunctionError, Payload } = await send(functionName, event, 'RequestResponse', signal);
      const text = Payload?.transformToString() ?? 'null';
      if (FunctionError) throw new Error(`${functionName} failed: ${text.slice(0, 200)}`);
      return JSON.parse(text);
    },
    async tell(functionName, event, signal) {
      await send(functionName, event, 'Event', signal);
    },
  };
}
