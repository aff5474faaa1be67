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
  /** The URL after redirects. */
  readonly url: string;
  readonly body: Readable;
}>;

interface DownloadLimits {
  readonly maxBytes: number;
  /** Time that the whole download may take. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

async function open(download: Download, url: string, { maxBytes, timeoutMs, signal }: DownloadLimits) {
  const both = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const response = await download(url, { signal: both });
  const length = Number(response.headers['content-length']);
  const refuse = (reason: string) => {
    response.body.destroy();
    throw new Error(reason);
  };
  if (response.status !== 200) refuse(`upstream returned ${response.status}`);
  if (length > maxBytes) refuse(`it has ${length} bytes, more than ${maxBytes}`);
  return { ...response, total: length > 0 ? length : undefined, signal: both };
}

/** Follows redirects and returns the final URL. */
export async function resolveUrl(download: Download, url: string, bounds: DownloadLimits): Promise<string> {
  const response = await open(download, url, bounds);
  response.body.destroy();
  return response.url;
}

/** Downloads a small file into memory. @throws Error when it is missing, too large or too slow */
export async function downloadBytes(download: Download, url: string, bounds: DownloadLimits): Promise<Buffer> {
  const { body, signal } = await open(download, url, bounds);
  const capped = capAt(bounds.maxBytes);
  const [bytes] = await Promise.all([buffer(capped), pipeline(body, capped, { signal })]);
  return bytes;
}

/** Downloads to a file and returns its SHA-256 in hex. @throws Error when it is missing, too large or too slow */
export async function downloadFile(
  download: Download,
  url: string,
  path: string,
  { onBytes, ...bounds }: DownloadLimits & { readonly onBytes: (bytes: number, totalBytes?: number) => void },
): Promise<string> {
  const { body, total, signal } = await open(download, url, bounds);
  const digest = createHash('sha256');
  const meter = capAt(bounds.maxBytes, (chunk, bytes) => {
    digest.update(chunk);
    onBytes(bytes, total);
  });
  await pipeline(body, meter, createWriteStream(path), { signal });
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
