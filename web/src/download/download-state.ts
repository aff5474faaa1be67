import type { FailureFacts, FailureKind, Waiting } from '../api/index.ts';

export type DownloadFailureKind =
  | FailureKind
  /** A playlist entry has no media. */
  | 'nothing'
  /** The source replaced the file during the download. */
  | 'changed'
  /** The device is full. */
  | 'no-space'
  /** The chosen location is not writable. */
  | 'not-writable';

export interface DownloadFailure extends FailureFacts {
  readonly kind: DownloadFailureKind;
}

export interface DownloadState {
  /** `ready`: not started. `waiting`: for a location, an instance or a connection, see `waiting`. */
  readonly phase: 'ready' | 'waiting' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';
  /** Absent while a location is being chosen and while connecting. */
  readonly waiting?: Waiting;
  readonly receivedBytes: number;
  readonly totalBytes?: number;
  /** Of an archive of unknown length. */
  readonly entries?: { readonly done: number; readonly count: number };
  /** `totalBytes` is expected, not promised. */
  readonly isEstimate: boolean;
  /** Average of the last few seconds; 0 unless running. */
  readonly bytesPerSecond: number;
  /** Whole seconds; absent when unknown. */
  readonly secondsLeft?: number;
  /**
   * A pause or a lost connection continues at the exact byte. Otherwise a pause holds the connection open, and a
   * lost one starts over.
   */
  readonly canResume: boolean;
  /** The length is unknown, as of a broadcast: `stopAndSave()` saves what was received. */
  readonly canStopAndSave: boolean;
  /** In phase `failed`: `resume()` retries, at the exact byte if `canResume`. */
  readonly canRetry: boolean;
  /** In phase `cancelled`: the visitor dismissed the file picker. */
  readonly isDismissed?: boolean;
  /** In phase `done`: the browser downloads by itself; its progress is not known here. */
  readonly isHandedOver: boolean;
  readonly failure?: DownloadFailure;
}

/** State before the start. */
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

/** Whether the download has reached a final phase. */
export const hasEnded = ({ phase }: DownloadState): boolean => ENDED.includes(phase);

/** Between 0 and 1; undefined when unknown. An estimate never reaches 1. */
export function progressOf(state: DownloadState): number | undefined {
  const { phase, receivedBytes, totalBytes, isEstimate, entries } = state;
  if (phase === 'ready' || (phase === 'paused' && !totalBytes)) return 0;
  if (!totalBytes) return entries && entries.done / entries.count;
  return Math.min(receivedBytes / totalBytes, isEstimate ? 0.99 : 1);
}
