import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { createSemaphore } from '@reelay/concurrency';

/** Bounds one attempt from the moment it is sent. */
const ATTEMPT_TIMEOUT_MS = 2_000;
/** Bound the wait for a permit to send, and a whole call with its attempts. */
const WAIT_TIMEOUT_MS = 15_000;
const CALL_TIMEOUT_MS = 20_000;
const MAX_CONCURRENT_CALLS = 128;

/**
 * Creates a client with short timeouts and bounded concurrency. The timeout of an attempt starts when it is sent; before
 * that it waits for a permit: of a thousand concurrent calls to a slow table most would time out and be retried.
 */
export function createTableClient(
  config: DynamoDBClientConfig = {},
  maxConcurrentCalls = MAX_CONCURRENT_CALLS,
): DynamoDBClient {
  const semaphore = createSemaphore({ permits: maxConcurrentCalls });
  const client = new DynamoDBClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: ATTEMPT_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpsAgent: { keepAlive: true, maxSockets: maxConcurrentCalls },
      httpAgent: { keepAlive: true, maxSockets: maxConcurrentCalls },
    },
    ...config,
  });
  const limitConcurrency =
    <Arguments, Result>(next: (call: Arguments) => Promise<Result>) =>
    async (call: Arguments): Promise<Result> => {
      const { release } = await semaphore.acquire('', AbortSignal.timeout(WAIT_TIMEOUT_MS));
      try {
        return await next(call);
      } finally {
        release();
      }
    };
  // Added after the retry middleware, so that each attempt acquires its own permit.
  client.middlewareStack.add(limitConcurrency, { step: 'deserialize', priority: 'high', name: 'limitConcurrency' });
  return client;
}

/** Options that abort a call after CALL_TIMEOUT_MS: the client bounds single attempts only. */
export const callTimeout = (): { readonly abortSignal: AbortSignal } => ({
  abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS),
});
