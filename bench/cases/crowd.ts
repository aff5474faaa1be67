import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { Case } from '../bench.ts';

const CLIENTS = 1000;
const BYTES_PER_SECOND = 200_000;
const SECONDS = 15;

/** The memory that many slow clients take. */
export const crowd: Case = async function* ({ origin, service, stream }) {
  await origin.publish('crowd', [{ file: 'video.mp4', holds: 'video' }], 60);
  const url = await stream('crowd');
  const leave = new AbortController();
  let taken = 0;
  let served = 0;
  const client = async () => {
    const { statusCode, body } = await request(url, { signal: leave.signal, highWaterMark: 64 * 1024 });
    if (statusCode === 200) served += 1;
    const start = performance.now();
    let mine = 0;
    for await (const chunk of body) {
      mine += chunk.length;
      taken += chunk.length;
      const early = (mine / BYTES_PER_SECOND) * 1000 - (performance.now() - start);
      if (early > 0) await sleep(early);
    }
  };
  const clients = Array.from({ length: CLIENTS }, () => client().catch(() => undefined));
  let peak = 0;
  for (let second = 0; second < SECONDS; second += 1) {
    await sleep(1000);
    peak = Math.max(peak, service.residentBytes());
  }
  leave.abort();
  await Promise.all(clients);
  yield { what: `${CLIENTS} clients at 200 kB/s, served`, ours: served, atLeast: CLIENTS };
  yield { what: `${CLIENTS} clients at 200 kB/s, resident`, ours: peak / 1e6, unit: 'MB', atMost: 400 };
  yield {
    what: `${CLIENTS} clients at 200 kB/s, each got`,
    ours: taken / CLIENTS / SECONDS / 1e3,

    unit: 'kB/s',
  };
};
