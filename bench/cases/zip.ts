import type { Bench, Case } from '../bench.ts';
import { firstByteMs, peakBytes, resolveLink, take } from '../clients.ts';
import { type Figure, inTurn, seconds, unlessShort } from '../figures.ts';
import { makeMedia } from '../media.ts';

const RUNS = unlessShort(5);
const ENTRIES = 20;
/** One archive of this size shows the memory that it takes. */
const LONG_BYTES = unlessShort(10e9, 1e9);
const MAX_RATIO = 1.1;
/** Above the memory that the service takes for one stream of a file: two entries are open. */
const MAX_GROWTH_MB = 96;

/** Whole lists as one file beside their entries one after another. */
export const zip: Case = async function* (bench) {
  const { service } = bench;
  const clipBytes = await makeMedia('clip.mp4');
  const clips = await publishList(bench, 'zip-clips', ENTRIES, 'clip.mp4');
  const { mediaItems } = await resolveLink(service, clips);
  const keys = mediaItems.flatMap(({ video }) => video?.bestQualityKey ?? []);
  if (keys.length !== ENTRIES) throw new Error(`${keys.length} entries of ${ENTRIES}`);
  const url = await zipOf(bench, clips);
  const figures = await inTurn(
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
  yield { what, ...figures, rivalName: 'one after another', unit: 's', atMost: MAX_RATIO };
  yield { what: `${what}, first byte`, ours: await firstByteMs(url), unit: 'ms' };

  const bytes = await makeMedia('video.mp4');
  const count = Math.ceil(LONG_BYTES / bytes);
  const list = await publishList(bench, 'zip-long', count, 'video.mp4');
  yield* memoryOf(bench, await zipOf(bench, list), count, (bytes * count) / 1e9);
};

/** A list of entries that are items of their own, of the same file. @returns its link */
async function publishList({ origin }: Bench, name: string, count: number, file: string) {
  const names = Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
  for (const each of names) await origin.publish(each, [{ file, holds: 'both' }], 20);
  await origin.publishList(name, names);
  return `${origin.baseUrl}/site/${name}`;
}

/** The address of the ZIP of a list. */
async function zipOf({ service: { baseUrl } }: Bench, list: string): Promise<string> {
  const query = new URLSearchParams({ url: list, format: 'zip' });
  const { status, headers } = await fetch(`${baseUrl}/api/Get?${query}`, { redirect: 'manual' });
  const location = headers.get('location');
  if (status !== 302 || !location) throw new Error(`${status} for ${list}`);
  return baseUrl + location;
}

/** Memory of the service while one long archive is sent. */
async function* memoryOf({ service }: Bench, url: string, entries: number, gigabytes: number): AsyncGenerator<Figure> {
  // A stream like it first, so that buffers that stay are there.
  await take(`${url}&from=${Math.max(1, entries - 4)}`);
  const before = service.residentBytes();
  let elapsed = 0;
  const peak = await peakBytes(service, async () => {
    elapsed = await seconds(() => take(url));
  });
  const what = `zip of ${gigabytes.toFixed(1)} GB`;
  yield { what, ours: (gigabytes * 1000) / elapsed, unit: 'MB/s' };
  yield { what: `${what}, growth of memory`, ours: (peak - before) / 1e6, unit: 'MB', atMost: MAX_GROWTH_MB };
}
