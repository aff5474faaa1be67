/**
 * Failures, thrown by the component in which they happen. They have no HTTP status: each host translates them once,
 * with `toProblem` of `core/api`. `cause` is for the log.
 */

/** The egress guard refused the destination. Clients receive 404, as for a name that does not exist. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
}

/** An upstream request failed: refused, reset, timed out, stalled, TLS, too many redirects, or an invalid response. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
}

/** The source no longer accepts a URL. `gone`: it answers 404 or 410. */
export class UrlExpired extends Error {
  override readonly name = 'UrlExpired';
  readonly gone: boolean;

  constructor(gone: boolean) {
    super(gone ? 'Upstream URL is gone' : 'Upstream refused the URL');
    this.gone = gone;
  }
}

/** No media: an unknown key, a link without media, or a format that is gone. */
export class NotFound extends Error {
  override readonly name = 'NotFound';

  constructor(message = 'Media not found', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The parameters select what the media does not have; known only once its headers are read. */
export class InvalidParameter extends Error {
  override readonly name = 'InvalidParameter';
  /** The reason, as one sentence for the client. */
  readonly detail: string;

  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.detail = detail;
  }
}

/** The rendition exists, but not in the requested form. */
export class UnsupportedRendition extends Error {
  override readonly name = 'UnsupportedRendition';
  /** The reason, as one sentence for the client. */
  readonly detail: string;

  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.detail = detail;
  }
}

/** The media exists but cannot be delivered: protected, refused by the source, or an unsupported kind of link. */
export class NotDeliverable extends Error {
  override readonly name = 'NotDeliverable';
  /** The reason, as one sentence for the client. */
  readonly detail: string;

  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.detail = detail;
  }
}

/** The state table does not respond. */
export class StateUnavailable extends Error {
  override readonly name = 'StateUnavailable';
}

/** The state table has no disk space for further records. */
export class StorageFull extends Error {
  override readonly name = 'StorageFull';
}

/** A tool is being installed or updated. */
export class InMaintenance extends Error {
  override readonly name = 'InMaintenance';
  /** The activity, as in the API's `maintenance` field. */
  readonly activity: string;

  constructor(activity: string) {
    super(activity);
    this.activity = activity;
  }
}

/** A limit of the instance is reached. */
export class CapacityExceeded extends Error {
  override readonly name = 'CapacityExceeded';
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, retryAfterSeconds?: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The client closed its connection: the response has no recipient. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';

  constructor() {
    super('The client closed the connection');
  }
}

/** A limit per client address is reached. */
export class ClientLimitExceeded extends Error {
  override readonly name = 'ClientLimitExceeded';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
