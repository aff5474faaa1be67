import { open, stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import type { Exchange } from '../handler.ts';
import { pause, sendFile, typeOf } from '../respond.ts';

/** `/files/clip.mp4`: any file of the media folder, with ranges. `?type=` overrides the media type. */
export const files = (exchange: Exchange): Promise<void> => {
  const type = exchange.url.searchParams.get('type');
  return sendFile(exchange, exchange.path, type === null ? {} : { type });
};

/** `/truncated/clip.mp4`: always truncated at half of Content-Length. */
export async function truncatedFiles(exchange: Exchange): Promise<void> {
  const { size } = await stat(join(exchange.mediaDir, normalize(`/${exchange.path}`)));
  return sendFile(exchange, exchange.path, { truncateAt: Math.floor(size / 2) });
}

/** Interval between chunks of a slow file. */
const TICK_MS = 20;

/** `/slow/clip.mp4?rate=100000`: bytes per second, without ranges. */
export async function slowFiles({ response, url, path, mediaDir, signal }: Exchange): Promise<void> {
  const piece = Math.ceil((Number(url.searchParams.get('rate') ?? 100_000) * TICK_MS) / 1000);
  const file = await open(join(mediaDir, normalize(`/${path}`)));
  try {
    const { size } = await file.stat();
    response.writeHead(200, { 'content-type': typeOf(path), 'content-length': size });
    for (let at = 0; at < size && !signal.aborted; at += piece) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(piece), 0, piece, at);
      response.write(buffer.subarray(0, bytesRead));
      await pause(TICK_MS, undefined, { signal });
    }
    response.end();
  } finally {
    await file.close();
  }
}
