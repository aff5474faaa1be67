import { ApiFailure } from '../api/index.ts';
import type { DownloadFailure } from './download-state.ts';
import { TransferFailure } from './transfer.ts';

/** Another try would end the same. */
const NOT_RETRYABLE: readonly DownloadFailure['kind'][] = ['bad-link', 'not-found', 'refused'];
/** What was written is of no use for another try. */
const DISCARDING: readonly DownloadFailure['kind'][] = [...NOT_RETRYABLE, 'changed', 'no-space', 'not-writable'];

/** Anything thrown on the way of a download as a failure that has words: what nobody foresaw is the place's fault. */
export function toDownloadFailure(error: unknown): DownloadFailure {
  if (error instanceof TransferFailure) return { kind: error.kind };
  if (error instanceof ApiFailure) {
    const { kind, title, detail, retryAfterSeconds } = error;
    return {
      kind,
      ...(title !== undefined && { title }),
      ...(detail !== undefined && { detail }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
  }
  return { kind: 'not-writable' };
}

export const isRetryable = ({ kind }: DownloadFailure): boolean => !NOT_RETRYABLE.includes(kind);

/** Whether what was written must go. */
export const discardsPartialFile = ({ kind }: DownloadFailure): boolean => DISCARDING.includes(kind);
