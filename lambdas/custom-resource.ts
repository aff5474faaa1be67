import { abortable, withRetries } from '@reelay/concurrency';
import type {
  CloudFormationCustomResourceEvent,
  CloudFormationCustomResourceSuccessResponse,
  Context,
} from 'aws-lambda';
import { describeError, type Log } from '../core/log/index.ts';

/** A request of CloudFormation for one custom resource. */
export interface ResourceRequest {
  /** As in the template, without `ServiceToken`. CloudFormation sends every value as a string. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** Aborted shortly before the function would be killed. */
  readonly signal: AbortSignal;
}

/** `Data` has attributes for `getAttString` in the template, which `NoEcho` masks in CloudFormation's output. */
export type ResourceAnswer = Pick<CloudFormationCustomResourceSuccessResponse, 'Data' | 'NoEcho'>;

export interface CustomResourceOptions {
  /** Constant: CloudFormation deletes the former resource when the id changes. */
  readonly physicalId: string;
  /** Creates or updates the resource. */
  readonly provide: (request: ResourceRequest) => Promise<ResourceAnswer>;
  /** Called also for a resource that was never created. */
  readonly remove: (signal: AbortSignal) => Promise<unknown>;
  readonly log: Log;
  /** Before the first retry of the response; doubled for each further one. @default 500 */
  readonly backoffMs?: number;
}

/** Reserved at the end of the invocation for all attempts to respond. */
const RESPONSE_RESERVE_MS = 10_000;
const MAX_RETRIES = 2;
const ATTEMPT_TIMEOUT_MS = 2_500;
const MAX_REASON_CHARACTERS = 500;

/**
 * Handles CloudFormation's custom resource events, and responds to every one of them: a stack waits an hour for a missing
 * response.
 * @returns the handler. It throws an Error when the response cannot be delivered: Lambda then retries the event, so the
 * work must be idempotent
 */
export function customResource({ physicalId, provide, remove, log, backoffMs = 500 }: CustomResourceOptions) {
  return async (
    event: CloudFormationCustomResourceEvent,
    context: Pick<Context, 'getRemainingTimeInMillis'>,
  ): Promise<void> => {
    const { StackId, RequestId, LogicalResourceId, RequestType, ResponseURL } = event;
    const { ServiceToken: _, ...properties } = event.ResourceProperties;
    const PhysicalResourceId = 'PhysicalResourceId' in event ? event.PhysicalResourceId : physicalId;
    const ids = { StackId, RequestId, LogicalResourceId, PhysicalResourceId };
    const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - RESPONSE_RESERVE_MS));
    const work = RequestType === 'Delete' ? remove(signal).then(() => ({})) : provide({ properties, signal });
    // Also when the work ignores the signal.
    const answer = await abortable(work, signal).then(
      (attributes) => ({ Status: 'SUCCESS', ...ids, ...attributes }),
      (error: unknown) => {
        log.error('Custom resource failed', { requestType: RequestType, logicalId: LogicalResourceId, error });
        return { Status: 'FAILED', ...ids, Reason: reasonOf(error) };
      },
    );
    await withRetries(() => put(ResponseURL, JSON.stringify(answer)), {
      isPassing(error) {
        log.warn('Failed to send the custom resource response', { error });
        return true;
      },
      pauseMs: backoffMs,
      maxRetries: MAX_RETRIES,
      signal: AbortSignal.timeout(RESPONSE_RESERVE_MS),
    });
  };
}

/**
 * Sends the response to the presigned S3 URL of the event. The plain client is safe here: only CloudFormation may invoke the
 * function (IAM), so the URL is not user input. The URL is a secret until it expires, and stays out of all messages.
 */
async function put(url: string, body: string): Promise<void> {
  const failure = await fetch(url, {
    method: 'PUT',
    // The presigned URL was signed with an empty Content-Type.
    headers: { 'content-type': '' },
    body,
    signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
  }).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.ok ? undefined : `status ${answer.status}`;
    },
    ({ cause, name }: Error) => (cause as NodeJS.ErrnoException | undefined)?.code ?? name,
  );
  if (failure) throw new Error(`Failed to send the custom resource response: ${failure}`);
}

/** One line for CloudFormation's events, with URLs reduced to host and path. The log has the complete error. */
function reasonOf(error: unknown): string {
  const [line = ''] = describeError(error instanceof Error ? error.message : error).split('\n');
  return line.slice(0, MAX_REASON_CHARACTERS) || 'Unknown error';
}
