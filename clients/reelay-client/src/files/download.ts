import { join } from 'node:path';
import type { Client } from '../client.ts';
import { ReelayError } from '../failure.ts';
import { createRetries, type RetryOptions } from '../retry.ts';
import { safeFileName } from './file-name.ts';
import { createPipe, openPartialFile, type Sink, sizeOf } from './partial-file.ts';
import { copyBody, describeStream, openRest } from './receive.ts';

interface ReceiveOptions extends RetryOptions {
  /** Called when bytes are written. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** A connection without a byte for so long counts as lost. @default 60,000 */
  readonly stallTimeoutMs?: number | undefined;
  /** Temporary failures are waited out for so long without progress. @default 300 */
  readonly maxWaitSeconds?: number | undefined;
}

export interface DownloadOptions extends ReceiveOptions {
  /** Path of the file. @default the name that the instance gives it, in `folder` */
  readonly file?: string | undefined;
  /** @default the current one */
  readonly folder?: string | undefined;
  /** Chooses another path than that of the name in `folder`. */
  readonly chooseFile?: ((suggested: SuggestedFile) => Promise<string>) | undefined;
  /** Replaces a file that is there. */
  readonly overwrites?: boolean | undefined;
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
  /** The part of `bytes` that an earlier download received. */
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
  { file, folder = '.', chooseFile, overwrites, ...options }: DownloadOptions = {},
): Promise<Download> {
  const attempts = createAttempts(options);
  const there = await attempts.run((signal) => describeStream(client, url, signal));
  const name = safeFileName(there.fileName ?? 'download');
  const path = file ?? (await chooseFile?.({ name, totalBytes: there.totalBytes })) ?? join(folder, name);
  const size = overwrites ? undefined : await sizeOf(path);
  if (size !== undefined && size === there.totalBytes) return { file: path, bytes: size, resumedBytes: size };
  if (size !== undefined) throw new ReelayError('file-exists', { message: `${path} exists` });

  const partial = await openPartialFile(path);
  try {
    // Received by a process that ended before it could give the file its name.
    const isWhole = partial.entity && partial.entity.etag === there.etag && partial.receivedBytes === there.totalBytes;
    const resumedBytes = isWhole
      ? partial.receivedBytes
      : await receive(client, url, { target: partial, file: path, attempts, onProgress: options.onProgress });
    await partial.finish();
    return { file: path, bytes: partial.receivedBytes, resumedBytes };
  } finally {
    await partial.close();
  }
}

/**
 * Streams a URL of an instance to what takes its bytes, such as a pipe. A lost connection continues at the exact byte.
 * @param write settles when it can take more
 * @returns the number of bytes
 * @throws ReelayError, also where the file changes: what was written cannot be taken back; and what `write` throws
 */
export async function pipe(
  client: Pick<Client, 'send'>,
  url: string,
  write: (bytes: Uint8Array) => Promise<void>,
  options: ReceiveOptions = {},
): Promise<number> {
  const target = createPipe(write);
  await receive(client, url, { target, file: '-', attempts: createAttempts(options), onProgress: options.onProgress });
  return target.receivedBytes;
}

interface Attempts {
  /** Retries after temporary failures. @param target not retried once it has bytes of a response that cannot be resumed */
  run<T>(act: (signal: AbortSignal, onBytes: () => void) => Promise<T>, target?: Sink): Promise<T>;
  /** An attempt has made progress. */
  reset(): void;
}

function createAttempts({ stallTimeoutMs = STALL_TIMEOUT_MS, ...retry }: ReceiveOptions): Attempts {
  const retries = createRetries({ maxWaitSeconds: MAX_WAIT_SECONDS, ...retry });
  return {
    reset: retries.reset,
    async run(act, target) {
      for (;;) {
        try {
          return await withStallTimeout(stallTimeoutMs, retry.signal, act);
        } catch (error) {
          retry.signal?.throwIfAborted();
          if (target?.entity?.canResume === false && target.receivedBytes > 0) throw error;
          await retries.next(error);
        }
      }
    },
  };
}

interface Receiving extends Pick<ReceiveOptions, 'onProgress'> {
  readonly target: Sink;
  /** Name of the file in progress reports. */
  readonly file: string;
  readonly attempts: Attempts;
}

/** Receives what the target lacks. @returns the bytes that it had before */
async function receive(
  client: Pick<Client, 'send'>,
  url: string,
  { target, file, attempts, onProgress }: Receiving,
): Promise<number> {
  let resumedBytes: number | undefined;
  for (let changes = 0; changes <= MAX_CHANGES; changes += 1) {
    const isReceived = await attempts.run(async (signal, onBytes) => {
      const response = await openRest(client, url, target, signal);
      resumedBytes ??= target.receivedBytes;
      if (!response) return false;
      await copyBody(response.body, target, () => {
        onBytes();
        attempts.reset();
        const { receivedBytes, entity: { totalBytes, estimatedBytes, canResume = false } = {} } = target;
        onProgress?.({ file, receivedBytes, resumedBytes: resumedBytes ?? 0, totalBytes, estimatedBytes, canResume });
      });
      return true;
    }, target);
    if (isReceived) return resumedBytes ?? 0;
  }
  throw new ReelayError('interrupted', { message: 'The file keeps changing' });
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
