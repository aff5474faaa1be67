import { ReelayError } from '../../../clients/reelay-client/src/index.ts';

/** Failures, grouped by what the user can do about them. */
export type FailureKind =
  /** Not a valid link. */
  | 'bad-link'
  /** No media at this link, or an expired key. */
  | 'not-found'
  /** Protected, refused by the source or unsupported. */
  | 'refused'
  /** The source failed. A retry may succeed. */
  | 'failed'
  /** The instance is updating its tools. */
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
  /** The instance is down, or is no Reelay. */
  | 'unreachable';

export interface FailureFacts {
  readonly retryAfterSeconds?: number | undefined;
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
    super(facts.problem ?? kind, facts as object, options);
    this.kind = kind;
  }

  override get isTemporary(): boolean {
    return TEMPORARY_KINDS.some((kind) => kind === this.kind);
  }
}

/** By the name of the type, or by the status. */
const KINDS: ReadonlyMap<string | number, FailureKind> = new Map<string | number, FailureKind>([
  ['bad-url', 'bad-link'],
  ['maintenance', 'maintenance'],
  ['delayed', 'delayed'],
  ['busy', 'busy'],
  // The signature of a private instance's link has expired.
  [403, 'not-found'],
  [404, 'not-found'],
  [415, 'refused'],
  [429, 'too-many'],
  [503, 'waking'],
]);

/** What a failed request means to the user. The reason of an aborted one stays as it is. */
export function toApiFailure(error: unknown): unknown {
  // The answer is none of an instance.
  if (error instanceof TypeError) return new ApiFailure('unreachable', {}, { cause: error });
  if (!(error instanceof ReelayError)) return error;
  const { status, code, title, retryAfterSeconds } = error;
  // A 404 without problem details comes from another server.
  if (status === undefined || (status === 404 && title === undefined))
    return new ApiFailure(isOnline() ? 'unreachable' : 'offline', {}, { cause: error });
  const kind = KINDS.get(code) ?? KINDS.get(status) ?? 'failed';
  const problem = code === 'unexpected-response' ? undefined : code;
  return new ApiFailure(kind, { problem, retryAfterSeconds }, { cause: error });
}

/** False only when the browser reports no connection. */
export const isOnline = (): boolean => globalThis.navigator?.onLine !== false;
