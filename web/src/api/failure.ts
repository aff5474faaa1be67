/** Failures, grouped by what the user can do about them. */
export type FailureKind =
  /** Not a valid link. */
  | 'bad-link'
  /** No media at this link, or an expired key. */
  | 'not-found'
  /** Protected, refused by the source or unsupported; see `detail`. */
  | 'refused'
  /** The source failed. A retry may succeed. */
  | 'failed'
  /** The instance is updating its tools; `title` is the activity. */
  | 'maintenance'
  /** The stream host is starting. */
  | 'waking'
  /** The site serves the media only later. */
  | 'delayed'
  /** The instance is at its stream limit. */
  | 'busy'
  /** Rate limited. */
  | 'too-many'
  /** This device has no connection. */
  | 'offline'
  /** The instance is down, does not allow this origin, or is no Reelay. */
  | 'unreachable';

export interface FailureFacts {
  /** From the problem details, in English. */
  readonly title?: string;
  readonly detail?: string;
  /** The name in the `type`: what the page says of it. */
  readonly problem?: string;
  /** Whole seconds. */
  readonly retryAfterSeconds?: number;
}

/** Every failure of an instance. An aborted request throws the signal's reason instead. */
export class ApiFailure extends Error implements FailureFacts {
  override readonly name = 'ApiFailure';
  readonly kind: FailureKind;
  readonly title?: string;
  readonly detail?: string;
  readonly problem?: string;
  readonly retryAfterSeconds?: number;

  constructor(kind: FailureKind, facts: FailureFacts = {}, options?: ErrorOptions) {
    super(facts.detail ?? facts.title ?? kind, options);
    this.kind = kind;
    Object.assign(this, facts);
  }
}
