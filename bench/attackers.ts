import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { HOSTILE_LINKS, serveHostileLinks } from '../test/attacks/hostile-links.ts';
import { type Origin, startOrigin } from '../test/origin/server.ts';
import type { Server } from './processes.ts';

/** An origin with ordinary media and the corpus of hostile sources. */
export async function startMixedOrigin(): Promise<Origin> {
  return startOrigin({
    mounts: {
      '/hostile/': serveHostileLinks(),
      // The same playlist under any name: each is another link.
      '/ordinary/': async ({ response, mediaDir }) => {
        const playlist = await readFile(join(mediaDir, 'hls/ts/index.m3u8'), 'utf8');
        response.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' });
        response.end(playlist.replace(/^(\d+\.ts)/gm, '/hls/ts/$1'));
      },
    },
  });
}

/** Headers of a client at an address, for a service with TRUSTED_PROXIES=1. */
export const from = (address: string) => ({ 'x-forwarded-for': address });

export interface AttackOptions {
  readonly service: Server;
  readonly origin: Origin;
  readonly address: string;
  readonly signal: AbortSignal;
}

const CONCURRENT_LINKS = 24;
const UNREAD_STREAMS = 6;

/** One hostile client: links of the corpus side by side, some of them reset, and streams that it does not read. */
export async function attack(options: AttackOptions): Promise<void> {
  const { service, origin, address, signal } = options;
  let turn = 0;
  const resolveHostile = async () => {
    while (!signal.aborted) {
      const { name } = HOSTILE_LINKS[turn++ % HOSTILE_LINKS.length] ?? { name: '' };
      const link = origin.url(`/hostile/${name}?${turn}`);
      const isReset = turn % 3 === 0;
      const ended = isReset ? AbortSignal.any([signal, AbortSignal.timeout(200)]) : signal;
      await resolveLink(service, link, address, ended).catch(() => undefined);
      // A refusal is immediate: without a pause this would measure how fast refusals are.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const holdStream = async () => {
    while (!signal.aborted) {
      try {
        const path = await streamPath(service, origin.url(`/ordinary/${address}-${turn++}.m3u8`), address, signal);
        const { body } = await request(service.baseUrl + path, { headers: from(address), signal });
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        body.on('error', () => undefined).destroy();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  };
  await Promise.all([
    ...Array.from({ length: CONCURRENT_LINKS }, resolveHostile),
    ...Array.from({ length: UNREAD_STREAMS }, holdStream),
  ]);
}

interface Side {
  readonly bestQualityKey: string | null;
  readonly urlType?: string;
}

/** A failed request, with its status. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
}

/** @throws RequestFailed unless it answers 200 */
export async function resolveLink({ baseUrl }: Server, link: string, address: string, signal?: AbortSignal) {
  const query = new URLSearchParams({ url: link });
  const { statusCode, body } = await request(`${baseUrl}/api/Fetch/GetResource?${query}`, {
    headers: from(address),
    signal,
  });
  const text = await body.text();
  if (statusCode !== 200) throw new RequestFailed(`${statusCode} for ${link}`);
  return JSON.parse(text) as { readonly mediaItems: readonly { readonly video?: Side; readonly audio?: Side }[] };
}

/** The path of the best stream of a link. */
export async function streamPath(
  service: Server,
  link: string,
  address: string,
  signal?: AbortSignal,
): Promise<string> {
  const { mediaItems } = await resolveLink(service, link, address, signal);
  const side = mediaItems[0]?.video ?? mediaItems[0]?.audio;
  return `/api/Stream/${side?.urlType ?? 'Media'}/${side?.bestQualityKey}`;
}
