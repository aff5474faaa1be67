import { type FailureFacts as ClientFacts, ReelayError } from '../../../clients/reelay-client/src/index.ts';

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

export interface FailureFacts extends ClientFacts {
  /** The name in the `type`: what the page says of it. */
  readonly problem?: string | undefined;
  /** What the instance does during maintenance, where it says so. */
  readonly progress?: ToolProgress | undefined;
}

/** How far an instance is with installing or updating a tool. */
export interface ToolProgress {
  readonly step: 'fetch' | 'install' | 'check';
  readonly tool: string;
  readonly receivedBytes?: number;
  readonly totalBytes?: number;
}

/** Failures that the page waits out. */
const TEMPORARY_KINDS = ['maintenance', 'waking', 'delayed', 'busy', 'too-many'] as const satisfies FailureKind[];

export type TemporaryKind = (typeof TEMPORARY_KINDS)[number];

/** Every failure of an instance, with what the user can do about it. An aborted request throws the signal's reason instead. */
export class ApiFailure extends ReelayError {
  readonly kind: FailureKind;
  declare readonly problem?: string;
  declare readonly progress?: ToolProgress;

  constructor(kind: FailureKind, facts: FailureFacts = {}, options?: ErrorOptions) {
    super(facts.problem ?? kind, facts, options);
    this.kind = kind;
  }

  override get isTemporary(): boolean {
    return TEMPORARY_KINDS.some((kind) => kind === this.kind);
  }
}
