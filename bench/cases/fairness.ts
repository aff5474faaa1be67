import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { attack, from, startMixedOrigin, streamPath } from '../attackers.ts';
import { type Case, startReelay } from '../bench.ts';
import { median, seconds } from '../figures.ts';

const ROUNDS = Number(process.env.FAIRNESS_ROUNDS ?? 4);
const REQUESTS = 5;
const FILE = 'long-video.mp4';
const GOOD = '192.0.2.1';
const HOSTILE = '198.51.100.1';
/** Until the hostile client has reached its limits. */
const WARM_UP_MS = 3_000;

/** One hostile client beside a good one: phases with and without it alternate, so that the machine's speed affects both. */
export const fairness: Case = async function* () {
  const origin = await startMixedOrigin();
  const data = await mkdtemp(join(tmpdir(), 'bench-fairness-'));
  const service = await startReelay(origin.host, data, { TRUSTED_PROXIES: '1', MAX_STREAMS_PER_CLIENT: '16' });
  const times = { quiet: { resolve: [], stream: [] }, beside: { resolve: [], stream: [] } } as Record<
    'quiet' | 'beside',
    Record<'resolve' | 'stream', number[]>
  >;
  const { size: bytes } = await stat(join(origin.mediaDir, FILE));
  let links = 0;
  const measure = async ({ resolve, stream }: (typeof times)['quiet']) => {
    for (let count = 0; count < REQUESTS; count += 1) {
      const link = origin.url(`/files/${FILE}?${links++}`);
      resolve.push(await seconds(() => streamPath(service, link, GOOD)));
      const path = await streamPath(service, link, GOOD);
      stream.push(
        await seconds(async () => {
          const { statusCode, body } = await request(service.baseUrl + path, { headers: from(GOOD) });
          const { byteLength } = await body.arrayBuffer();
          if (statusCode !== 200 || byteLength !== bytes) throw new Error(`${statusCode} with ${byteLength} bytes`);
        }),
      );
    }
  };
  try {
    await measure({ resolve: [], stream: [] });
    for (let round = 0; round < ROUNDS; round += 1) {
      await measure(times.quiet);
      const over = new AbortController();
      const attacking = attack({ service, origin, address: HOSTILE, signal: over.signal });
      await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
      await measure(times.beside);
      over.abort();
      await attacking;
    }
  } finally {
    await service.close();
    await origin.close();
    await rm(data, { recursive: true, force: true });
  }
  for (const what of ['resolve', 'stream'] as const)
    yield {
      what: `a good client's ${what} beside a hostile client`,
      ours: median(times.beside[what]) * 1000,
      rival: median(times.quiet[what]) * 1000,
      rivalName: 'alone',
      unit: 'ms',
      atMost: 2,
    };
};
