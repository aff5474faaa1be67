import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Case } from '../bench.ts';
import { archiveOf, firstByteMs, take } from '../clients.ts';
import { inTurn, seconds } from '../figures.ts';

const RUNS = 5;
const ENTRIES = 20;
const REPEATED_RUNS = 200;
/** One archive of this size shows the memory that it takes. */
const LONG_BYTES = 10e9;
const SAMPLE_INTERVAL_MS = 250;
const MAX_RATIO = 1.1;
const MAX_ONE_SHOT_RATIO = 1.2;
/** Above the memory that the service takes for one stream of a file: two entries are open. */
const MAX_GROWTH_MB = 96;

/** Whole lists as one file beside their entries one after another, and one-shot links beside GetResource. */
export const archive: Case = async function* (bench) {
  const { origin, service, sizes } = bench;
  const clipBytes = sizes['clip.mp4'] ?? 0;
  const clips = await publishList(bench, 'archive-clips', ENTRIES, 'clip.mp4');
  const { mediaItems } = await bench.resolve(clips);
  const keys = mediaItems.flatMap(({ video }) => video?.bestQualityKey ?? []);
  if (keys.length !== ENTRIES) throw new Error(`${keys.length} entries of ${ENTRIES}`);
  const url = await archiveOf(service, clips);
  const { ours: archiveSeconds, rival: filesSeconds } = await inTurn(
    RUNS,
    () =>
      seconds(async () => {
        const taken = await take(url);
        if (taken < clipBytes * ENTRIES) throw new Error(`${taken} bytes of ${clipBytes * ENTRIES}`);
      }),
    () =>
      seconds(async () => {
        for (const key of keys) await take(`${service.baseUrl}/api/Stream/Media/${key}`);
      }),
  );
  const what = `zip of ${ENTRIES} files`;
  yield {
    what,
    ours: archiveSeconds,
    rival: filesSeconds,
    rivalName: 'one after another',
    unit: 's',
    atMost: MAX_RATIO,
  };
  const first = await firstByteMs(url);
  yield { what: `${what}, first byte`, ours: first, unit: 'ms' };

  const bytes = sizes['video.mp4'] ?? 0;
  const count = Math.ceil(LONG_BYTES / bytes);
  const list = await publishList(bench, 'archive-long', count, 'video.mp4');
  yield* memoryOf(bench, await archiveOf(service, list), (bytes * count) / 1e9);

  const link = `${origin.baseUrl}/site/archive-long-1`;
  await bench.resolve(link);
  const oneShot = `${service.baseUrl}/api/Get?${new URLSearchParams({ url: link })}`;
  const { ours, rival } = await inTurn(
    REPEATED_RUNS,
    () =>
      seconds(async () => {
        const { status } = await fetch(oneShot, { redirect: 'manual' });
        if (status !== 302) throw new Error(`${status} for ${oneShot}`);
      }),
    () => seconds(() => bench.resolve(link)),
  );
  yield {
    what: 'one-shot link of a known resource',
    ours: ours * 1000,
    rival: rival * 1000,
    rivalName: 'GetResource',
    unit: 'ms',
    atMost: MAX_ONE_SHOT_RATIO,
  };
};

/** A list of entries that are items of their own, of the same file. @returns its link */
async function publishList({ origin }: Bench, name: string, count: number, file: string) {
  const names = Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
  for (const each of names) await origin.publish(each, [{ file, holds: 'both' }], 20);
  await origin.publishList(name, names);
  return `${origin.baseUrl}/site/${name}`;
}

/** Memory of the service while one long archive is sent. */
async function* memoryOf({ service }: Bench, url: string, gigabytes: number) {
  // A stream like it first, so that buffers that stay are there.
  await take(`${url}&from=${Math.max(1, Math.floor(gigabytes * 6) - 4)}`);
  const before = service.residentBytes();
  const over = new AbortController();
  let peak = before;
  const sampling = (async () => {
    while (!over.signal.aborted) {
      await sleep(SAMPLE_INTERVAL_MS);
      peak = Math.max(peak, service.residentBytes());
    }
  })();
  const elapsed = await seconds(() => take(url));
  over.abort();
  await sampling;
  const what = `archive of ${gigabytes.toFixed(1)} GB`;
  yield { what, ours: (gigabytes * 1000) / elapsed, unit: 'MB/s' };
  yield { what: `${what}, growth of memory`, ours: (peak - before) / 1e6, unit: 'MB', atMost: MAX_GROWTH_MB };
}
