import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOSTILE_LINKS, serveHostileLinks } from '../test/attacks/hostile-links.ts';
import { type Origin, startOrigin } from '../test/origin/server.ts';
import { resolveLink, streamOf } from './clients.ts';
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

interface AttackOptions {
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
  const headers = from(address);
  let turn = 0;
  const resolveHostile = async () => {
    while (!signal.aborted) {
      const { name } = HOSTILE_LINKS[turn++ % HOSTILE_LINKS.length] ?? { name: '' };
      const link = origin.url(`/hostile/${name}?${turn}`);
      const isReset = turn % 3 === 0;
      const ended = isReset ? AbortSignal.any([signal, AbortSignal.timeout(200)]) : signal;
      await resolveLink(service, link, { headers, signal: ended }).catch(() => undefined);
      // A refusal is immediate: without a pause this would measure how fast refusals are.
      await sleep(50);
    }
  };
  const holdStream = async () => {
    while (!signal.aborted) {
      try {
        const link = origin.url(`/ordinary/${address}-${turn++}.m3u8`);
        const { body } = await fetch(await streamOf(service, link, { headers, signal }), { headers, signal });
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        await body?.cancel();
      } catch {
        await sleep(200);
      }
    }
  };
  await Promise.all([
    ...Array.from({ length: CONCURRENT_LINKS }, resolveHostile),
    ...Array.from({ length: UNREAD_STREAMS }, holdStream),
  ]);
}
