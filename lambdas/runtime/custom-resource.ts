import { setTimeout as sleep } from 'node:timers/promises';
import { getRetryDelay } from '@reelay/concurrency';
import type { CloudFormationCustomResourceEvent, CloudFormationCustomResourceResponse, Context } from 'aws-lambda';
import { request } from 'undici';
import { describeError, type Log } from '../../core/log/index.ts';

/** A request of CloudFormation for one custom resource. */
export interface ResourceRequest {
  /** As in the template, without `ServiceToken`. CloudFormation sends every value as a string. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** The id of an earlier response; absent at creation. */
  readonly physicalId?: string;
  /** Aborted shortly before the function would be killed. */
  readonly signal: AbortSignal;
}

export interface ResourceAnswer {
  /** Keep it constant: CloudFormation deletes the former resource when the id changes. */
  readonly physicalId: string;
  /** Attributes, for `getAttString` in the template. */
  readonly data?: Readonly<Record<string, string>>;
  /** Masks the data in CloudFormation's output. */
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

/** CloudFormation's limit of a response. */
const MAX_RESPONSE_BYTES = 4096;
/** Reserved at the end of the invocation for all attempts to respond. */
const RESPONSE_RESERVE_MS = 10_000;
const MAX_ATTEMPTS = 3;
const ATTEMPT_TIMEOUT_MS = 2_500;
const MAX_REASON_CHARACTERS = 500;

/**
 * Handles CloudFormation's custom resource events, and responds to every one of them: a stack waits an hour for a missing
 * response.
 * @returns the handler. It throws an Error when the response cannot be delivered: Lambda then retries the event, so the
 * work must be idempotent
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
      const { physicalId, data, noEcho } = await withDeadline(context, (signal) =>
        act(options, event, { physicalId: known, signal }),
      );
      const answer = { Status: 'SUCCESS', ...ids, PhysicalResourceId: physicalId } as const;
      const body = write({ ...answer, ...(data && { Data: data }), ...(noEcho && { NoEcho: true }) });
      if (Buffer.byteLength(body) > MAX_RESPONSE_BYTES) throw new Error(`Response exceeds ${MAX_RESPONSE_BYTES} bytes`);
      await deliver(event.ResponseURL, body, options);
    } catch (error) {
      if (error instanceof NotDelivered) throw error;
      options.log.error('Custom resource failed', {
        requestType: event.RequestType,
        logicalId: LogicalResourceId,
        error,
      });
      // CloudFormation requires an id even when nothing was created, and sends it in the Delete that follows.
      const failure = { Status: 'FAILED', ...ids, PhysicalResourceId: known ?? 'not-created' } as const;
      await deliver(event.ResponseURL, write({ ...failure, Reason: reasonOf(error) }), options);
    }
  };
}

async function act(
  { create, update, delete: remove }: CustomResourceOptions,
  event: CloudFormationCustomResourceEvent,
  known: Pick<ResourceRequest, 'physicalId' | 'signal'>,
): Promise<ResourceAnswer> {
  const { ServiceToken: _, ...properties } = event.ResourceProperties;
  const resourceRequest = { properties, ...known };
  if (event.RequestType === 'Create') return create(resourceRequest);
  if (event.RequestType === 'Update') return update(resourceRequest);
  if (event.RequestType !== 'Delete') throw new Error('Unknown request type');
  await remove(resourceRequest);
  return { physicalId: event.PhysicalResourceId };
}

/** Rejects before the function would be killed, even when the work ignores the signal. */
async function withDeadline<T>(
  context: Pick<Context, 'getRemainingTimeInMillis'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - RESPONSE_RESERVE_MS));
  const tooLate = new Promise<never>((_, reject) => {
    const refuse = () => reject(new Error('Timed out'));
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
 * Sends the response to the presigned S3 URL of the event. The plain client is safe here: only CloudFormation may invoke the
 * function (IAM), so the URL is not user input. The URL is a secret until it expires, and stays out of all messages.
 */
async function deliver(url: string, body: string, { log, backoffMs = 500 }: CustomResourceOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const failure = await put(url, body);
    if (!failure) return;
    log.warn('Failed to send the custom resource response', { attempt, reason: failure });
    if (attempt === MAX_ATTEMPTS) throw new NotDelivered(`Failed to send the custom resource response: ${failure}`);
    await sleep(getRetryDelay(attempt, { initialDelayMs: backoffMs }));
  }
}

/** @returns the reason of a failure, undefined after success */
async function put(url: string, body: string): Promise<string | undefined> {
  try {
    const answer = await request(url, {
      method: 'PUT',
      // The presigned URL was signed with an empty Content-Type.
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

/** One line for CloudFormation's events, with URLs reduced to host and path. The log has the complete error. */
function reasonOf(error: unknown): string {
  const [line = ''] = describeError(error instanceof Error ? error.message : error).split('\n');
  return line.slice(0, MAX_REASON_CHARACTERS) || 'Unknown error';
}
