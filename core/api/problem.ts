import { STATUS_CODES } from 'node:http';
import { formatContentRange } from '@reelay/seekable-media/http';
import {
  CapacityExceeded,
  ClientDisconnected,
  ClientLimitExceeded,
  EgressRefused,
  InMaintenance,
  InvalidParameter,
  NotDeliverable,
  NotFound,
  StateUnavailable,
  StorageFull,
  UnsupportedRendition,
  UpstreamError,
  UrlExpired,
} from '../errors/index.ts';
import { PROBLEM_TYPES, type ProblemName, typeReference } from './problem-types.ts';
import type { Schema } from './schemas.ts';

/** An error body after RFC 9457. Absent fields are omitted from the JSON. */
export type ProblemDetails = Readonly<Schema<'ProblemDetails'>>;

/**
 * A failure with its response. Thrown for invalid requests; other failures are translated by `toProblem`. Each host turns
 * problems into responses in one place. `cause` is for the log and never reaches the client.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly details: ProblemDetails;
  readonly headers: Readonly<Record<string, string>>;

  constructor(details: ProblemDetails, headers: Readonly<Record<string, string>> = {}, options?: ErrorOptions) {
    super(details.detail ?? details.title, options);
    this.details = details;
    this.headers = headers;
  }
}

/** Where they differ from those of HTTP. */
const TITLES: Readonly<Record<number, string>> = {
  404: 'Resource Not Found',
  499: 'Client Closed Request',
  502: 'Fetch Failed',
  503: 'No Capacity',
};

interface ProblemOptions extends ErrorOptions {
  /** @default that of the type */
  readonly status?: number;
  /** @default that of the status */
  readonly title?: string;
  readonly detail?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly retryAfterSeconds?: number | undefined;
}

/** A problem of a type, with the status and title of the type unless others are given. */
export function createProblem(name: ProblemName, options: ProblemOptions = {}): Problem {
  const {
    status = PROBLEM_TYPES[name].status,
    title = TITLES[status] ?? STATUS_CODES[status] ?? '',
    detail,
    retryAfterSeconds,
    cause,
  } = options;
  const retryAfter = retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) };
  return new Problem(
    { type: typeReference(name), title, status, ...(detail && { detail }) },
    { ...retryAfter, ...options.headers },
    { cause },
  );
}

/** Every problem that the API responds with. */
export const problems = {
  badLink: (cause?: unknown) => createProblem('bad-url', { cause }),
  badRequest: (detail?: string, cause?: unknown) => createProblem('bad-parameter', { detail, cause }),
  notFound: (cause?: unknown, detail?: string) => createProblem('not-found', { cause, detail }),
  /**
   * A private instance requires a key (RFC 9110 §15.5.2; RFC 6750 §3).
   * @param hasKey whether the request carries one, which then is not valid
   */
  unauthorized: (hasKey: boolean) =>
    createProblem('unauthorized', {
      detail: hasKey
        ? 'The access key is not valid.'
        : 'This instance is private. Send an access key as Authorization: Bearer, or as X-Api-Key.',
      headers: { 'www-authenticate': `Bearer realm="Reelay"${hasKey ? ', error="invalid_token"' : ''}` },
    }),
  /** A signed link of a private instance is not valid, or no longer. */
  linkRefused: (reason: 'expired' | 'invalid') =>
    createProblem('link-refused', {
      detail:
        reason === 'expired'
          ? 'The link has expired. Resolve it again.'
          : 'The signature of the link is not valid: it was changed, or its access key was removed.',
    }),
  /** A page of another site must neither cause work nor learn what others have resolved. */
  crossSite: () =>
    createProblem('cross-site', {
      detail:
        'Pages of other sites cannot resolve or stream unless CORS_ALLOWED_ORIGINS lists their origin. Open the link itself.',
    }),
  methodNotAllowed: (allow: string) => createProblem('method-not-allowed', { headers: { allow } }),
  /** `detail`: protected, refused by the source, or an unsupported kind of link. */
  notDeliverable: (detail: string, cause?: unknown) => createProblem('unsupported', { detail, cause }),
  /** `size` of the representation in bytes (RFC 9110 §15.5.17). */
  rangeNotSatisfiable: (size: number) =>
    createProblem('range-not-satisfiable', { headers: { 'content-range': formatContentRange(undefined, size) } }),
  /** The host name in the request is not one of this instance (RFC 9110 §15.5.20). */
  misdirectedRequest: () => createProblem('unknown-instance'),
  tooManyRequests: (seconds: number) => createProblem('too-many', { retryAfterSeconds: seconds }),
  /** Non-standard, and never received by the client: the status under which nginx logs such requests. */
  clientDisconnected: () => createProblem('disconnected'),
  internal: (cause?: unknown) => createProblem('internal', { cause }),
  maintenance: (activity: string) =>
    createProblem('maintenance', {
      title: activity,
      detail: 'The instance is updating its tools. Try again in a few seconds.',
      retryAfterSeconds: 5,
    }),
  /** All streams, or all encoders, of the instance are in use. */
  noCapacity: (retryAfterSeconds = 10) =>
    createProblem('busy', {
      detail: 'The instance has no capacity for another stream. Try again soon.',
      retryAfterSeconds,
    }),
  storageFull: (cause?: unknown) =>
    createProblem('busy', {
      detail: 'The instance is out of disk space. Try again later.',
      retryAfterSeconds: 60,
      cause,
    }),
} as const;

/** The Problem (RFC 9457) that a failure is answered with. An error of no known class is a 500 that keeps it as the cause. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof UpstreamError && error.reason === 'delayed')
    return createProblem('delayed', {
      title: PROBLEM_TYPES.delayed.heading,
      detail: `The site will serve it in ${error.retryAfterSeconds} seconds. Try again then.`,
      cause: error,
      retryAfterSeconds: error.retryAfterSeconds,
    });
  if (error instanceof UpstreamError || error instanceof NotFound)
    return createProblem(error.reason, { cause: error, retryAfterSeconds: error.retryAfterSeconds });
  if (error instanceof EgressRefused) return createProblem(error.reason, { cause: error });
  // The site refuses URLs that it has just handed out. The contract of streams has no 415.
  if (error instanceof UrlExpired)
    return error.gone
      ? createProblem('gone', { cause: error })
      : createProblem('refused', { status: 502, cause: error });
  if (error instanceof InvalidParameter) return problems.badRequest(error.detail, error);
  if (error instanceof UnsupportedRendition)
    return createProblem('unsupported-rendition', { detail: error.detail, cause: error });
  if (error instanceof NotDeliverable) return createProblem(error.reason, { detail: error.detail, cause: error });
  if (error instanceof StateUnavailable) return createProblem('service-failed', { cause: error });
  if (isTimeout(error)) return createProblem('site-timeout', { cause: error });
  if (error instanceof StorageFull) return problems.storageFull(error);
  if (error instanceof InMaintenance) return problems.maintenance(error.activity);
  if (error instanceof CapacityExceeded) return problems.noCapacity(error.retryAfterSeconds);
  if (error instanceof ClientLimitExceeded) return problems.tooManyRequests(error.retryAfterSeconds);
  if (error instanceof ClientDisconnected) return problems.clientDisconnected();
  return problems.internal(error);
}

/** Media that cannot be delivered after all is a failed fetch: the contract of streams has no 415. */
export const toStreamProblem = (error: unknown): Problem =>
  error instanceof NotDeliverable ? createProblem(error.reason, { status: 502, cause: error }) : toProblem(error);

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';
