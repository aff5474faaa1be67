import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from './handler.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.mp4': 'video/mp4',
  '.m4s': 'video/iso.segment',
  '.m4a': 'audio/mp4',
  '.webm': 'video/webm',
  '.mkv': 'video/x-matroska',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.flac': 'audio/flac',
  '.wav': 'audio/wav',
  '.aac': 'audio/aac',
  '.ts': 'video/mp2t',
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.mpd': 'application/dash+xml',
  '.jpg': 'image/jpeg',
};

/** The media type of a file by its extension. */
export const typeOf = (file: string): string => TYPES[extname(file)] ?? 'application/octet-stream';

/** Sends a short body. */
export function send({ request, response }: Exchange, type: string, body: string | Buffer, status = 200): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Sends JSON. */
export const json = (exchange: Exchange, body: unknown, status = 200): void =>
  send(exchange, 'application/json', JSON.stringify(body), status);

/** Sends an HTML page. */
export const html = (exchange: Exchange, body: string, head = ''): void =>
  send(exchange, 'text/html; charset=utf-8', `<!doctype html><html><head>${head}</head><body>${body}</body></html>`);

/** Sends a redirect. */
export function redirect({ response }: Exchange, location: string, status = 302): void {
  response.writeHead(status, { location, 'content-length': 0 });
  response.end();
}

export interface FileOptions {
  /** @default the media type of the extension */
  readonly type?: string;
  /** Bytes after which the body is truncated although Content-Length declares more. */
  readonly truncateAt?: number;
}

/** Sends a file of the media folder as a static server does: ranges, If-Range, ETag, Last-Modified. */
export async function sendFile(exchange: Exchange, file: string, options: FileOptions = {}): Promise<void> {
  const { request, response, mediaDir, signal } = exchange;
  const place = join(mediaDir, normalize(`/${file}`));
  const found = await stat(place).catch(() => undefined);
  if (!found?.isFile()) return send(exchange, 'text/plain', 'Not here', 404);

  const { size } = found;
  const etag = `"${size.toString(16)}-${found.mtimeMs.toString(16)}"`;
  const fresh = request.headers['if-range'] === undefined || request.headers['if-range'] === etag;
  const [, from = '', to = ''] = (fresh && /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '')) || [];
  const ranged = from !== '' || to !== '';
  const first = from === '' && ranged ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  const headers = {
    'content-type': options.type ?? typeOf(file),
    'accept-ranges': 'bytes',
    etag,
    'last-modified': found.mtime.toUTCString(),
  };
  if (first > last) {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${size}`, 'content-length': 0 }).end();
    return;
  }
  const contentRange = ranged ? { 'content-range': `bytes ${first}-${last}/${size}` } : {};
  response.writeHead(ranged ? 206 : 200, { ...headers, ...contentRange, 'content-length': last - first + 1 });
  if (request.method === 'HEAD') return void response.end();

  const end = Math.min(last, (options.truncateAt ?? Infinity) - 1);
  const bytes = createReadStream(place, { start: first, end: Math.max(end, first) });
  if (end === last) return pipeline(bytes, response, { signal });
  await pipeline(bytes, response, { signal, end: false });
  response.destroy();
}

/** Resolves after `ms`; rejects when the client disconnects before. */
export { setTimeout as pause } from 'node:timers/promises';
