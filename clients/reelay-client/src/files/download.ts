import { join } from 'node:path';
import type { Client } from '../client.ts';
import { ReelayError } from '../failure.ts';
import { createRetries, type RetryOptions } from '../retry.ts';
import { safeFileName } from './file-name.ts';
import { openPartialFile, type PartialFile, sizeOf } from './partial-file.ts';
import { copyBody, describeStream, openRest } from './receive.ts';

export interface DownloadOptions extends RetryOptions {
  /** Path of the file. @default the name that the instance gives it, in `folder` */
  readonly file?: string | undefined;
  /** @default the current one */
  readonly folder?: string | undefined;
  /** Chooses another path than that of the name in `folder`. */
  readonly chooseFile?: ((suggested: SuggestedFile) => Promise<string>) | undefined;
  /** Replaces a file that is there. */
  readonly overwrites?: boolean | undefined;
  /** Called when bytes are written. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** A connection without a byte for so long counts as lost. @default 60,000 */
  readonly stallTimeoutMs?: number | undefined;
  /** Temporary failures are waited out for so long without progress. @default 300 */
  readonly maxWaitSeconds?: number | undefined;
}

/** A file as the instance describes it. */
export interface SuggestedFile {
  /** Fit for any file system. */
  readonly name: string;
  /** Exact; absent while it is unknown. */
  readonly totalBytes?: number | undefined;
}

export interface DownloadProgress {
  readonly file: string;
  readonly receivedBytes: number;
  /** Received by an earlier download, which this one continues. */
  readonly resumedBytes: number;
  readonly totalBytes?: number | undefined;
  readonly estimatedBytes?: number | undefined;
  /** Whether a later download could continue this one. */
  readonly canResume: boolean;
}

export interface Download {
  readonly file: string;
  readonly bytes: number;
  /** Of these, received by an earlier download. */
  readonly resumedBytes: number;
}

const STALL_TIMEOUT_MS = 60_000;
const MAX_WAIT_SECONDS = 300;
/** How often a file may change at its source while it is received. */
const MAX_CHANGES = 3;

/**
 * Streams a URL of an instance to a file. A lost connection continues at the exact byte, and so does a later call for the same
 * file; where the source has changed in between (RFC 9110 §13.1.5), it starts over. Until it is complete, the file is called
 * `FILE.part`. A file of the same size that is there already is left as it is.
 * @param url as from `locate`, `streamUrl` or `getUrl`
 * @throws ReelayError, or the reason of the signal; what was received stays
 */
export async function download(
  client: Pick<Client, 'send'>,
  url: string,
  options: DownloadOptions = {},
): Promise<Download> {
  const {
    file,
    folder = '.',
    chooseFile,
    overwrites,
    onProgress,
    stallTimeoutMs = STALL_TIMEOUT_MS,
    ...retry
  } = options;
  const retries = createRetries({ maxWaitSeconds: MAX_WAIT_SECONDS, ...retry });
  const attempt = async <T>(act: (signal: AbortSignal, onBytes: () => void) => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await withStallTimeout(stallTimeoutMs, retry.signal, act);
      } catch (error) {
        retry.signal?.throwIfAborted();
        if (partial && partial.receivedBytes > 0 && !partial.entity?.canResume) throw error;
        await retries.next(error);
      }
    }
  };

  let partial: PartialFile | undefined;
  const there = await attempt((signal) => describeStream(client, url, signal));
  const name = safeFileName(there.fileName ?? 'download');
  const path = file ?? (await chooseFile?.({ name, totalBytes: there.totalBytes })) ?? join(folder, name);
  const size = overwrites ? undefined : await sizeOf(path);
  if (size !== undefined && size === there.totalBytes) return { file: path, bytes: size, resumedBytes: size };
  if (size !== undefined) throw new ReelayError('file-exists', { message: `${path} exists` });

  const opened = await openPartialFile(path);
  partial = opened;
  // Received by a process that ended before it could give the file its name.
  const isWhole = opened.entity?.etag === there.etag && opened.receivedBytes === there.totalBytes;
  let resumedBytes = isWhole ? opened.receivedBytes : undefined;
  let changes = 0;
  try {
    while (!isWhole) {
      const isReceived = await attempt(async (signal, onBytes) => {
        const response = await openRest(client, url, opened, signal);
        resumedBytes ??= opened.receivedBytes;
        if (!response) return false;
        await copyBody(response.body, opened, () => {
          onBytes();
          retries.reset();
          const { receivedBytes, entity: { totalBytes, estimatedBytes, canResume = false } = {} } = opened;
          onProgress?.({
            file: path,
            receivedBytes,
            resumedBytes: resumedBytes ?? 0,
            totalBytes,
            estimatedBytes,
            canResume,
          });
        });
        return true;
      });
      if (isReceived) break;
      if (++changes > MAX_CHANGES) throw new ReelayError('interrupted', { message: 'The file keeps changing' });
    }
    await opened.finish();
    return { file: path, bytes: opened.receivedBytes, resumedBytes: resumedBytes ?? 0 };
  } finally {
    await opened.close();
  }
}

/** Aborts what it does when no byte arrives for a time. */
async function withStallTimeout<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal, onBytes: () => void) => Promise<T>,
): Promise<T> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(new DOMException('Stalled', 'TimeoutError')), timeoutMs);
  try {
    return await act(signal ? AbortSignal.any([signal, stalled.signal]) : stalled.signal, () => void timer.refresh());
  } finally {
    clearTimeout(timer);
  }
}
