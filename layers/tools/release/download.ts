import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** One guarded GET, redirects followed. */
export type Download = (
  url: string,
  options: { readonly signal: AbortSignal },
) => Promise<{
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where it came from, after redirects. */
  readonly url: string;
  readonly body: Readable;
}>;

export interface DownloadLimits {
  readonly maxBytes: number;
  /** Milliseconds for all of it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

async function open(download: Download, url: string, { maxBytes, timeoutMs: timeout, signal }: DownloadLimits) {
  const both = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  const response = await download(url, { signal: both });
  const length = Number(response.headers['content-length']);
  const refuse = (reason: string) => {
    response.body.destroy();
    throw new Error(reason);
  };
  if (response.status !== 200) refuse(`it answers ${response.status}`);
  if (length > maxBytes) refuse(`it has ${length} bytes, more than ${maxBytes}`);
  return { ...response, total: length > 0 ? length : undefined, signal: both };
}

/** Where a URL leads to. */
export async function resolveUrl(download: Download, url: string, bounds: DownloadLimits): Promise<string> {
  const response = await open(download, url, bounds);
  response.body.destroy();
  return response.url;
}

/** A small file, whole. @throws when it is not there or too large */
export async function downloadBytes(download: Download, url: string, bounds: DownloadLimits): Promise<Buffer> {
  const { body, signal } = await open(download, url, bounds);
  const capped = capAt(bounds.maxBytes);
  const [bytes] = await Promise.all([buffer(capped), pipeline(body, capped, { signal })]);
  return bytes;
}

/** Writes a file and gives its SHA-256 in hex. @throws when it is not there, too large or too slow */
export async function downloadFile(
  download: Download,
  url: string,
  path: string,
  { onBytes, ...bounds }: DownloadLimits & { readonly onBytes: (bytes: number, totalBytes?: number) => void },
): Promise<string> {
  const { body, total, signal } = await open(download, url, bounds);
  const digest = createHash('sha256');
  const look = capAt(bounds.maxBytes, (chunk, bytes) => {
    digest.update(chunk);
    onBytes(bytes, total);
  });
  await pipeline(body, look, createWriteStream(path), { signal });
  return digest.digest('hex');
}

function capAt(maxBytes: number, onChunk?: (chunk: Buffer, bytes: number) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      onChunk?.(chunk, bytes);
      done(bytes > maxBytes ? new Error(`it has more than ${maxBytes} bytes`) : null, chunk);
    },
  });
}
