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
import { formatContentRange } from '../http/index.ts';

/** An error body after RFC 9457. Absent fields are omitted from the JSON. */
export interface ProblemDetails {
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
}

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

const retryAfter = (seconds: number) => ({ 'retry-after': String(seconds) });

/** Every problem that the API responds with. */
export const problems = {
  badRequest: (detail?: string, cause?: unknown) =>
    new Problem({ title: 'Bad Request', status: 400, ...(detail && { detail }) }, {}, { cause }),
  notFound: (cause?: unknown) => new Problem({ title: 'Resource Not Found', status: 404 }, {}, { cause }),
  /**
   * Of a private instance (RFC 9110 §15.5.2; RFC 6750 §3).
   * @param hasKey whether the request carries a key, one that the instance does not know
   */
  unauthorized: (hasKey: boolean) =>
    new Problem(
      {
        title: 'Unauthorized',
        status: 401,
        detail: hasKey
          ? 'The access key is none of this instance.'
          : 'This instance is private. Send an access key as Authorization: Bearer, or as X-Api-Key.',
      },
      { 'www-authenticate': `Bearer realm="Reelay"${hasKey ? ', error="invalid_token"' : ''}` },
    ),
  /** A stream link of a private instance that is not valid, or not any more. */
  linkRefused: (reason: 'expired' | 'invalid') =>
    new Problem({
      title: 'Forbidden',
      status: 403,
      detail:
        reason === 'expired'
          ? 'The link has expired. Resolve it again.'
          : 'The signature of the link is not valid: it was changed, or its access key was removed.',
    }),
  /** Of a page of another site that cannot read the response: an image or script, which must not cause a resolve. */
  crossSite: () => new Problem({ title: 'Forbidden', status: 403 }),
  methodNotAllowed: (allow: string) => new Problem({ title: 'Method Not Allowed', status: 405 }, { allow }),
  /** `detail`: protected, refused by the source, or an unsupported kind of link. */
  notDeliverable: (detail: string, cause?: unknown) =>
    new Problem({ title: 'Unsupported Media Type', status: 415, detail }, {}, { cause }),
  /** `size` of the representation in bytes (RFC 9110 §15.5.17). */
  rangeNotSatisfiable: (size: number) =>
    new Problem(
      { title: 'Range Not Satisfiable', status: 416 },
      { 'content-range': formatContentRange(undefined, size) },
    ),
  /** The host name in the request is not one of this instance (RFC 9110 §15.5.20). */
  misdirectedRequest: () => new Problem({ title: 'Misdirected Request', status: 421 }),
  tooManyRequests: (seconds: number) => new Problem({ title: 'Too Many Requests', status: 429 }, retryAfter(seconds)),
  /** Non-standard, and never received by the client: the status under which nginx logs such requests. */
  clientDisconnected: () => new Problem({ title: 'Client Closed Request', status: 499 }),
  internal: (cause?: unknown) => new Problem({ title: 'Internal Server Error', status: 500 }, {}, { cause }),
  fetchFailed: (cause?: unknown) => new Problem({ title: 'Fetch Failed', status: 502 }, {}, { cause }),
  maintenance: (activity: string) =>
    new Problem(
      { title: activity, status: 503, detail: 'The instance is updating its tools. Try again in a few seconds.' },
      retryAfter(5),
    ),
  /** All streams, or all encoders, of the instance are in use. */
  noCapacity: (seconds = 10) =>
    new Problem(
      { title: 'No Capacity', status: 503, detail: 'The instance runs as many streams as it can. Try again soon.' },
      retryAfter(seconds),
    ),
  storageFull: (cause?: unknown) =>
    new Problem(
      { title: 'No Capacity', status: 503, detail: 'The instance is out of disk space. Try again later.' },
      retryAfter(60),
      { cause },
    ),
} as const;

/** The Problem (RFC 9457) that a failure is answered with. An error of no known class is a 500 that keeps it as the cause. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof NotFound || error instanceof EgressRefused) return problems.notFound(error);
  if (error instanceof UrlExpired) return error.gone ? problems.notFound(error) : problems.fetchFailed(error);
  if (error instanceof InvalidParameter) return problems.badRequest(error.detail, error);
  if (error instanceof UnsupportedRendition) return problems.notDeliverable(error.detail, error);
  if (error instanceof NotDeliverable) return problems.notDeliverable(error.detail, error);
  if (error instanceof UpstreamError || error instanceof StateUnavailable || isTimeout(error))
    return problems.fetchFailed(error);
  if (error instanceof StorageFull) return problems.storageFull(error);
  if (error instanceof InMaintenance) return problems.maintenance(error.activity);
  if (error instanceof CapacityExceeded) return problems.noCapacity(error.retryAfterSeconds);
  if (error instanceof ClientLimitExceeded) return problems.tooManyRequests(error.retryAfterSeconds);
  if (error instanceof ClientDisconnected) return problems.clientDisconnected();
  return problems.internal(error);
}

/** For streams, whose contract has no 415: media that cannot be delivered after all is a failed fetch. */
export const toStreamProblem = (error: unknown): Problem =>
  error instanceof NotDeliverable ? problems.fetchFailed(error) : toProblem(error);

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';
