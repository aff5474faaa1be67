import type { FailureFacts, FailureKind, Waiting } from '../api/index.ts';

export type DownloadFailureKind =
  | FailureKind
  /** An entry of a list turned out to have nothing that can be taken. */
  | 'nothing'
  /** The connection broke, and again; or fewer bytes came than were promised. */
  | 'interrupted'
  /** The file became another while it was being taken. */
  | 'changed'
  /** No room left on the device. */
  | 'no-space'
  /** The chosen place cannot be written. */
  | 'not-writable';

export interface DownloadFailure extends FailureFacts {
  readonly kind: DownloadFailureKind;
}

export interface DownloadState {
  /** `ready`: not started. `waiting`: for a place, an instance or a connection, see `waiting`. */
  readonly phase: 'ready' | 'waiting' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';
  /** What it waits for; absent while the place is being chosen and while it connects. */
  readonly waiting?: Waiting;
  readonly receivedBytes: number;
  readonly totalBytes?: number;
  /** `totalBytes` is what is expected, not what is promised. */
  readonly isEstimate: boolean;
  /** Of the last few seconds; 0 unless running. */
  readonly bytesPerSecond: number;
  /** Whole seconds; absent when nobody can tell. */
  readonly secondsLeft?: number;
  /**
   * A pause or a broken connection goes on at the exact byte. Without it a pause holds the connection open, and what
   * breaks starts over.
   */
  readonly canResume: boolean;
  /** Nobody knows where it ends, as of a broadcast: `keep()` makes a file of what has arrived. */
  readonly canStopAndSave: boolean;
  /** In phase `failed`: `resume()` tries again, from the exact byte where `canResume`. */
  readonly canRetry: boolean;
  /** In phase `done`: the browser downloads by itself and shows how it goes; nothing more is known here. */
  readonly isHandedOver: boolean;
  readonly failure?: DownloadFailure;
}

/** One that nobody has begun. */
export const INITIAL_STATE: DownloadState = {
  phase: 'ready',
  receivedBytes: 0,
  isEstimate: false,
  bytesPerSecond: 0,
  canResume: false,
  canStopAndSave: false,
  canRetry: false,
  isHandedOver: false,
};

const ENDED: readonly DownloadState['phase'][] = ['done', 'failed', 'cancelled'];

/** Whether nothing more happens by itself. */
export const hasEnded = ({ phase }: DownloadState): boolean => ENDED.includes(phase);

/** Between 0 and 1; undefined when nobody knows. What is only an estimate never shows as all of it. */
export function progressOf({ phase, receivedBytes, totalBytes, isEstimate }: DownloadState): number | undefined {
  if (phase === 'ready' || (phase === 'paused' && !totalBytes)) return 0;
  if (!totalBytes) return undefined;
  return Math.min(receivedBytes / totalBytes, isEstimate ? 0.99 : 1);
}
