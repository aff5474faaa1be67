import type { Api, FailureKind, Fetch } from './api.ts';
import type { ResourceInformation } from './contract.ts';

/** Why nothing happens just now, and for how long. */
export interface Waiting {
  readonly reason: Extract<FailureKind, 'maintenance' | 'waking' | 'busy' | 'too-many' | 'offline'> | 'unreachable';
  /** What the instance says it is doing, in its own English words. */
  readonly activity?: string;
  /** Until the next try, whole seconds. */
  readonly retrySeconds: number;
}

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Called at each wait. */
  readonly onWaiting?: (waiting: Waiting) => void;
  /** How long to wait in all before the failure is thrown after all. @default 600 */
  readonly patienceSeconds?: number;
  readonly fetch?: Fetch;
  /** Waits; throws the signal's reason. Tests give one that does not take time. */
  readonly sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Resolves a link, and waits where waiting helps: maintenance until `/api/App` says it is over, too many requests for
 * as long as the instance says.
 * @throws ApiFailure what waiting does not mend, or the last one when the patience is over
 */
export function resolveWhenAvailable(
  _api: Api,
  _link: string,
  _options: WaitOptions = {},
): Promise<ResourceInformation> {
  throw new Error('resolve');
}

/**
 * Settles once a stream answers: for a player that failed, which does not say why. Asks for a single byte.
 * @throws ApiFailure why it does not stream, when waiting does not mend it
 */
export function untilStreamable(_url: string, _options: WaitOptions = {}): Promise<void> {
  throw new Error('stream');
}
