import { join } from 'node:path';
import type { Client } from '../client.ts';
import { ReelayError } from '../failure.ts';
import { createRetries, type RetryOptions } from '../retry.ts';
import { safeFileName } from './file-name.ts';
import { openPartialFile, sizeOf } from './partial-file.ts';
import { copyBody, describeStream, type Entity, openRest, type Sink } from './receive.ts';

interface ReceiveOptions extends RetryOptions {
  /** Called when bytes are written. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  /** A connection that sends no byte for this time counts as lost. @default 60,000 */
  readonly stallTimeoutMs?: number | undefined;
  /** Longest time of retries without progress. @default 300 */
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
/** How many times a file may change at its source while it is received. */
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
  const attempt = createAttempt(options);
  const there = await attempt((signal) => describeStream(client, url, signal));
  const name = safeFileName(there.fileName ?? 'download');
  const path = file ?? (await chooseFile?.({ name, totalBytes: there.totalBytes })) ?? join(folder, name);
  const size = overwrites ? undefined : await sizeOf(path);
  if (size !== undefined && size === there.totalBytes) return { file: path, bytes: size, resumedBytes: size };
  if (size !== undefined) throw new ReelayError('file-exists', { message: `The file ${path} exists` });

  const partial = await openPartialFile(path);
  try {
    // Received by a process that ended before it could give the file its name.
    const isWhole = partial.entity && partial.entity.etag === there.etag && partial.receivedBytes === there.totalBytes;
    const resumedBytes = isWhole
      ? partial.receivedBytes
      : await receive(client, url, { target: partial, file: path, attempt, onProgress: options.onProgress });
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
  await receive(client, url, { target, file: '-', attempt: createAttempt(options), onProgress: options.onProgress });
  return target.receivedBytes;
}

/** Takes bytes and keeps none: it cannot start over once it has some. */
function createPipe(write: (bytes: Uint8Array) => Promise<void>): Sink {
  let entity: Entity | undefined;
  let receivedBytes = 0;
  return {
    get entity() {
      return entity;
    },
    get receivedBytes() {
      return receivedBytes;
    },
    async startOver(next) {
      if (receivedBytes > 0)
        throw new ReelayError('not-writable', {
          message: 'The file has changed, and a part of it is in the pipe already',
        });
      entity = next;
    },
    async append(bytes) {
      await write(bytes);
      receivedBytes += bytes.length;
    },
  };
}

/**
 * Makes attempts until one succeeds: after temporary failures, and when no byte arrives for `stallTimeoutMs`.
 * @param target not retried once it has bytes of a response that cannot be resumed
 */
type Attempt = <T>(act: (signal: AbortSignal, onBytes: () => void) => Promise<T>, target?: Sink) => Promise<T>;

function createAttempt({ stallTimeoutMs = STALL_TIMEOUT_MS, ...retry }: ReceiveOptions): Attempt {
  const retries = createRetries({ maxWaitSeconds: MAX_WAIT_SECONDS, ...retry });
  return async (act, target) => {
    for (;;) {
      const stalled = new AbortController();
      const timer = setTimeout(() => stalled.abort(new DOMException('Stalled', 'TimeoutError')), stallTimeoutMs);
      const signals = [stalled.signal, ...(retry.signal ? [retry.signal] : [])];
      const onBytes = () => {
        timer.refresh();
        retries.reset();
      };
      try {
        return await act(AbortSignal.any(signals), onBytes);
      } catch (error) {
        retry.signal?.throwIfAborted();
        if (target?.entity?.canResume === false && target.receivedBytes > 0) throw error;
        await retries.next(error);
      } finally {
        clearTimeout(timer);
      }
    }
  };
}

interface ReceiveTarget extends Pick<ReceiveOptions, 'onProgress'> {
  readonly target: Sink;
  /** Name of the file in progress reports. */
  readonly file: string;
  readonly attempt: Attempt;
}

/** Receives what the target lacks. @returns the bytes that it had before */
async function receive(
  client: Pick<Client, 'send'>,
  url: string,
  { target, file, attempt, onProgress }: ReceiveTarget,
): Promise<number> {
  let resumedBytes: number | undefined;
  for (let changes = 0; changes <= MAX_CHANGES; changes += 1) {
    const isReceived = await attempt(async (signal, onBytes) => {
      const response = await openRest(client, url, target, signal);
      resumedBytes ??= target.receivedBytes;
      if (!response) return false;
      await copyBody(response.body, target, () => {
        onBytes();
        const { receivedBytes, entity: { totalBytes, estimatedBytes, canResume = false } = {} } = target;
        onProgress?.({ file, receivedBytes, resumedBytes: resumedBytes ?? 0, totalBytes, estimatedBytes, canResume });
      });
      return true;
    }, target);
    if (isReceived) return resumedBytes ?? 0;
  }
  throw new ReelayError('interrupted', { message: 'The file keeps changing' });
}
