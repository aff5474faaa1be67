import { setTimeout as sleep } from 'node:timers/promises';
import type { CloudFormationCustomResourceEvent, CloudFormationCustomResourceResponse, Context } from 'aws-lambda';
import { request } from 'undici';
import { getRetryDelay } from '../../core/concurrency/index.ts';
import { describeError, type Log } from '../../core/log/index.ts';

/** What CloudFormation asks for. */
export interface ResourceRequest {
  /** As the template has them, `ServiceToken` aside. CloudFormation writes every value as text. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly stackId: string;
  /** What an earlier answer called it; absent at creation. */
  readonly physicalId?: string;
  /** Aborted shortly before the function would be killed. */
  readonly signal: AbortSignal;
}

export interface ResourceAnswer {
  /** Another id than before has CloudFormation delete the resource of the old one: keep it constant. */
  readonly physicalId: string;
  /** What the template reads by `getAttString`. */
  readonly data?: Readonly<Record<string, string>>;
  /** Keeps the data out of what CloudFormation shows. */
  readonly noEcho?: boolean;
}

export interface CustomResourceOptions {
  readonly create: (request: ResourceRequest) => Promise<ResourceAnswer>;
  readonly update: (request: ResourceRequest) => Promise<ResourceAnswer>;
  /** Called also for a resource that was never created. */
  readonly delete: (request: ResourceRequest) => Promise<unknown>;
  readonly log: Log;
  /** Before the first retry of the response; doubled for each further one. @default 500 */
  readonly backoffMs?: number;
}

/** Bytes that CloudFormation takes as an answer. */
const MAX_ANSWER_BYTES = 4096;
/** Reserved at the end of the invocation for all attempts to respond. */
const RESPONSE_RESERVE_MS = 10_000;
const MAX_ATTEMPTS = 3;
const ATTEMPT_TIMEOUT_MS = 2_500;
const REASON_CHARACTERS = 500;

/**
 * A handler of CloudFormation's custom resource events that answers every one: a stack waits an hour for an answer that
 * does not come.
 * @throws Error when the answer cannot be delivered: Lambda then asks again, so that the work must be repeatable
 */
export function customResource(options: CustomResourceOptions) {
  return async (
    event: CloudFormationCustomResourceEvent,
    context: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<void> => {
    const { StackId, RequestId, LogicalResourceId } = event;
    const ids = { StackId, RequestId, LogicalResourceId };
    const known = 'PhysicalResourceId' in event ? event.PhysicalResourceId : undefined;
    try {
      const { physicalId, data, noEcho } = await inTime(context, (signal) => act(options, event, known, signal));
      const answer = { Status: 'SUCCESS', ...ids, PhysicalResourceId: physicalId } as const;
      const body = write({ ...answer, ...(data && { Data: data }), ...(noEcho && { NoEcho: true }) });
      if (Buffer.byteLength(body) > MAX_ANSWER_BYTES)
        throw new Error(`Its answer has more than ${MAX_ANSWER_BYTES} bytes`);
      await deliver(event.ResponseURL, body, options);
    } catch (error) {
      if (error instanceof NotDelivered) throw error;
      options.log.error('Custom resource failed', {
        ...{ requestType: event.RequestType, logicalId: LogicalResourceId },
        error: describeError(error, true),
      });
      // What never was created needs an id all the same: CloudFormation sends it back to have it deleted.
      const failure = { Status: 'FAILED', ...ids, PhysicalResourceId: known ?? 'not-created' } as const;
      await deliver(event.ResponseURL, write({ ...failure, Reason: reasonOf(error) }), options);
    }
  };
}

async function act(
  { create, update, delete: remove }: CustomResourceOptions,
  event: CloudFormationCustomResourceEvent,
  physicalId: string | undefined,
  signal: AbortSignal,
): Promise<ResourceAnswer> {
  const { ServiceToken: _, ...properties } = event.ResourceProperties;
  const asked = { properties, stackId: event.StackId, signal, ...(physicalId !== undefined && { physicalId }) };
  if (event.RequestType === 'Create') return create(asked);
  if (event.RequestType === 'Update') return update(asked);
  if (event.RequestType !== 'Delete') throw new Error('It is asked for nothing that CloudFormation asks for');
  await remove(asked);
  return { physicalId: event.PhysicalResourceId };
}

/** Ends work that would outlast the function, whether it heeds the signal or not. */
async function inTime<T>(
  context: Pick<Context, 'getRemainingTimeInMillis'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - RESPONSE_RESERVE_MS));
  const tooLate = new Promise<never>((_, reject) => {
    const refuse = () => reject(new Error('It took too long'));
    signal.addEventListener('abort', refuse, { signal: done.signal });
  });
  try {
    return await Promise.race([work(signal), tooLate]);
  } finally {
    done.abort();
  }
}

class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
}

/**
 * Puts the answer where CloudFormation waits for it. The address is CloudFormation's own, an S3 URL signed for this one
 * answer, and reaches this function by IAM alone: nobody else's text is in it, so that the guarded client has no part here.
 * It is a secret while it is good: no message names it.
 */
async function deliver(
  url: string,
  body: string,
  { log, backoffMs: backoff = 500 }: CustomResourceOptions,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const failure = await put(url, body);
    if (!failure) return;
    log.warn('Failed to send the custom resource response', { attempt, reason: failure });
    if (attempt === MAX_ATTEMPTS) throw new NotDelivered(`The answer to CloudFormation was not taken: ${failure}`);
    await sleep(getRetryDelay(attempt, { initialDelayMs: backoff }));
  }
}

/** Why it was not taken. */
async function put(url: string, body: string): Promise<string | undefined> {
  try {
    const answer = await request(url, {
      method: 'PUT',
      // The signature covers the type, and it is empty.
      headers: { 'content-type': '' },
      body,
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    });
    await answer.body.dump();
    return answer.statusCode < 300 ? undefined : `status ${answer.statusCode}`;
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return code ?? name;
  }
}

const write = (answer: CloudFormationCustomResourceResponse): string => JSON.stringify(answer);

/** One line for whoever deploys, without what links carry behind their path; the log has the rest. */
function reasonOf(error: unknown): string {
  const [line = ''] = describeError(error instanceof Error ? error.message : error).split('\n');
  return line.slice(0, REASON_CHARACTERS) || 'It failed';
}
