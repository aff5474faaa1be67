/**
 * What can go wrong, said by the component that it happened to. None of them knows an HTTP status: `toProblem` of
 * `core/api` translates them once, at the edge of each host. `cause` is for the log.
 */

/** The egress guard refused the destination. Answered like a name that does not exist. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
}

/** The source failed: refused, reset, timed out, stalled, TLS, too many redirects, or a response that makes no sense. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
}

/** The source no longer accepts a URL. `gone`: the source does not even know it (404, 410). */
export class UrlExpired extends Error {
  override readonly name = 'UrlExpired';
  readonly gone: boolean;

  constructor(gone: boolean) {
    super(gone ? 'The source no longer has the media' : 'The source refuses the URL');
    this.gone = gone;
  }
}

/** There is no media where one was asked for: no such key, a link that leads to nothing, a format that is gone. */
export class NotFound extends Error {
  override readonly name = 'NotFound';

  constructor(message = 'There is no media here', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The media exists and cannot be delivered: protected, refused by the source, or a kind of link that is not handled. */
export class NotDeliverable extends Error {
  override readonly name = 'NotDeliverable';
  /** One sentence for the client: which of them it is. */
  readonly detail: string;

  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.detail = detail;
  }
}

/** The state table does not answer. */
export class StateUnavailable extends Error {
  override readonly name = 'StateUnavailable';
}

/** A tool is being fetched or updated. */
export class InMaintenance extends Error {
  override readonly name = 'InMaintenance';
  /** The activity, as the contract's `maintenance` field names it. */
  readonly activity: string;

  constructor(activity: string) {
    super(activity);
    this.activity = activity;
  }
}

/** The instance runs as much as it may. */
export class CapacityExceeded extends Error {
  override readonly name = 'CapacityExceeded';
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** One client uses as much as one client may. */
export class ClientLimitExceeded extends Error {
  override readonly name = 'ClientLimitExceeded';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
