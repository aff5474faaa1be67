/** What can go wrong, in the kinds that a user can do something different about. */
export type FailureKind =
  /** Not a link that can be asked for. */
  | 'bad-link'
  /** Nothing there, or the key is known no more. */
  | 'not-found'
  /** There, but protected, refused by the source, or not handled: `detail` says which. */
  | 'refused'
  /** Could not be fetched. Trying again may help. */
  | 'failed'
  /** The instance updates its tools: `title` names the activity. */
  | 'maintenance'
  /** The stream host is being started. */
  | 'waking'
  /** As many streams run as the instance can. */
  | 'busy'
  /** This client asked too much. */
  | 'too-many'
  /** This device has no connection. */
  | 'offline'
  /** The instance cannot be reached, does not let this page ask it, or is no Reelay at all. */
  | 'unreachable';

export interface FailureFacts {
  /** In the service's own English words. */
  readonly title?: string;
  readonly detail?: string;
  /** Whole seconds after which asking again makes sense. */
  readonly retryAfterSeconds?: number;
}

/** Everything that this library throws about an instance. An aborted signal throws its reason instead. */
export class ApiFailure extends Error implements FailureFacts {
  override readonly name = 'ApiFailure';
  readonly kind: FailureKind;
  readonly title?: string;
  readonly detail?: string;
  readonly retryAfterSeconds?: number;

  constructor(kind: FailureKind, facts: FailureFacts = {}, options?: ErrorOptions) {
    super(facts.detail ?? facts.title ?? kind, options);
    this.kind = kind;
    Object.assign(this, facts);
  }
}
