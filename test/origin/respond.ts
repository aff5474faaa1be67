import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
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

/** What a request asks for of so many bytes (RFC 9110 §14). Several ranges are sent as the whole. */
export function readRange(header: string | undefined, size: number) {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  const first = from === '' ? Math.max(size - Number(to), 0) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size) return 'unsatisfiable';
  return last < first ? 'whole' : { first, last };
}

/**
 * Writes the head of a file, or of the range of it that a request asks for.
 * @returns the first byte to send and the last one; undefined where the response ends with its head
 */
export function writeFileHead(
  { method, headers: { range: asked, 'if-range': ifRange } }: IncomingMessage,
  response: ServerResponse,
  size: number,
  headers: OutgoingHttpHeaders,
): { readonly first: number; readonly last: number } | undefined {
  const isFresh = ifRange === undefined || ifRange === headers.etag;
  const range = readRange(isFresh ? asked : undefined, size);
  const common = { 'accept-ranges': 'bytes', ...headers };
  if (range === 'unsatisfiable') {
    response.writeHead(416, { ...common, 'content-range': `bytes */${size}`, 'content-length': 0 }).end();
    return undefined;
  }
  const isRanged = range !== 'whole';
  const { first, last } = isRanged ? range : { first: 0, last: size - 1 };
  const contentRange = isRanged ? { 'content-range': `bytes ${first}-${last}/${size}` } : {};
  response.writeHead(isRanged ? 206 : 200, { ...common, ...contentRange, 'content-length': last - first + 1 });
  if (method !== 'HEAD') return { first, last };
  response.end();
  return undefined;
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
  const range = writeFileHead(request, response, size, {
    'content-type': options.type ?? typeOf(file),
    etag,
    'last-modified': found.mtime.toUTCString(),
  });
  if (!range) return;
  const { first, last } = range;
  const end = Math.min(last, (options.truncateAt ?? Infinity) - 1);
  const bytes = createReadStream(place, { start: first, end: Math.max(end, first) });
  if (end === last) return pipeline(bytes, response, { signal });
  await pipeline(bytes, response, { signal, end: false });
  response.destroy();
}

/** Resolves after `ms`; rejects when the client disconnects before. */
export { setTimeout as pause } from 'node:timers/promises';
