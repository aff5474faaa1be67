import { ApiFailure } from '../api/index.ts';
import type { DownloadFailure } from './download-state.ts';
import { TransferFailure } from './transfer.ts';

/** A retry would fail in the same way. */
const NOT_RETRYABLE: readonly DownloadFailure['kind'][] = ['bad-link', 'not-found', 'refused'];
/** The partial file cannot be continued. */
const DISCARDING: readonly DownloadFailure['kind'][] = [...NOT_RETRYABLE, 'changed', 'no-space', 'not-writable'];

/** Maps any error of a download; an unknown one comes from writing the file. */
export function toDownloadFailure(error: unknown): DownloadFailure {
  if (error instanceof TransferFailure) return { kind: error.kind };
  if (error instanceof ApiFailure) {
    const { kind, title, detail, problem, retryAfterSeconds } = error;
    return {
      kind,
      title,
      detail,
      problem,
      retryAfterSeconds,
    };
  }
  return { kind: 'not-writable' };
}

export const isRetryable = ({ kind }: DownloadFailure): boolean => !NOT_RETRYABLE.includes(kind);

/** Whether the partial file must be removed. */
export const discardsPartialFile = ({ kind }: DownloadFailure): boolean => DISCARDING.includes(kind);
