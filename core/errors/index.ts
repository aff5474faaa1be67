export { EgressRefused, messageOf, UpstreamError, type UpstreamReason } from '@reelay/guarded-fetch/errors';
export { COMPRESSED, UnsupportedRendition, UrlExpired, withoutFrames } from '@reelay/source/errors';

/**
 * Failures, thrown by the component in which they happen. They have no HTTP status: each host translates them once,
 * with `toProblem` of `core/api`. `cause` is for the log.
 */

/** Why there is no media. Each is the name of a problem type of `core/api`, as are the other reasons. */
export const ABSENCE_REASONS = [
  'not-found',
  'unknown-host',
  'private-address',
  'no-media',
  'not-started',
  'ended',
  'gone',
] as const;
export type AbsenceReason = (typeof ABSENCE_REASONS)[number];

/** Why media that exists cannot be delivered. */
export type RefusalReason =
  | 'refused'
  | 'login'
  | 'age'
  | 'private'
  | 'members'
  | 'payment'
  | 'drm'
  | 'region'
  | 'bot-check'
  | 'unsupported'
  | 'too-large';

const PASSING_REASONS: readonly string[] = ['not-started', 'bot-check'];

/** Whether what is absent or refused for this reason may be there at another time. */
export const isPassing = (reason: string): boolean => PASSING_REASONS.includes(reason);

interface ReasonOptions<Reason> extends ErrorOptions {
  readonly reason?: Reason | undefined;
  /** When another attempt may succeed, where the source says so. */
  readonly retryAfterSeconds?: number | undefined;
}

/** No media: an unknown key, a link without media, or a format that is gone. */
export class NotFound extends Error {
  override readonly name = 'NotFound';
  readonly reason: AbsenceReason;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message = 'Media not found',
    { reason = 'not-found', retryAfterSeconds, ...options }: ReasonOptions<AbsenceReason> = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
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

/** The media exists but cannot be delivered: protected, refused by the source, or an unsupported kind of link. */
export class NotDeliverable extends Error {
  override readonly name = 'NotDeliverable';
  /** The reason, as one sentence for the client. */
  readonly detail: string;
  readonly reason: RefusalReason;

  constructor(detail: string, { reason = 'unsupported', ...options }: ReasonOptions<RefusalReason> = {}) {
    super(detail, options);
    this.detail = detail;
    this.reason = reason;
  }
}

/** What a source sent takes too much time or memory to parse. */
export class ParsingLimitExceeded extends NotDeliverable {
  constructor() {
    super('The media is too complex to be read.', { reason: 'too-large' });
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
