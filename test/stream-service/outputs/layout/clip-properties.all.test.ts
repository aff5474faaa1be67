import { readFile } from 'node:fs/promises';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import { nameOf } from '@reelay/source/names';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeyedRendition } from '../../../../core/state/keys.ts';
import { createLayoutCaches } from '../../../../stream-service/outputs/layout/layout-caches.ts';
import type { KnownLayout, LayoutRequest } from '../../../../stream-service/outputs/layout/read-layout.ts';
import type { StreamSession } from '../../../../stream-service/sessions/stream-sessions.ts';
import type { OpenSource, SizedFile } from '../../../../stream-service/source/open-source.ts';
import { trackOf } from '../../fixture.ts';
import { expectWholeOrError, manglings, read, sized } from './layouts-in-memory.ts';
import { usePairMedia } from './pair-fixture.ts';

const never = new AbortController().signal;
const media = await usePairMedia();

const load = {
  clip: (files: readonly SizedFile[], start: number, end: number) =>
    loadOf(files, { of: 'part', times: { startSeconds: start, endSeconds: end } }),
  playlist: (files: readonly SizedFile[]) => loadOf(files, { of: 'presentation' }),
  pair: (files: readonly SizedFile[]) => loadOf(files, { of: 'pair' }),
};

function loadOf(files: readonly SizedFile[], request: Pick<LayoutRequest, 'of' | 'times'>) {
  const tracks = files.map((_, index) => trackOf(String(index))) as unknown as KeyedRendition['tracks'];
  const found = { tracks, resource: {} } as KeyedRendition;
  const openSource: OpenSource = async (_, { formatId }) => files[Number(formatId)] ?? expect.fail('No source');
  const session = { client: '', signal: never } as StreamSession;
  return createLayoutCaches().load(
    { id: nameOf([], 'x'), found, ...request },
    { session, openSource, isForHead: false },
  );
}

const FILES = [['bframes.mp4', 'ladder/aac-128.m4a'], ['bframes.mp4', 'short-indexed.m4a'], ['ladder/both-360.mp4']];

describe('a clip', () => {
  it.each(FILES)('of %s and %s gives the same bytes for any range, whatever its times', async (...names) => {
    const files = await Promise.all(
      names.filter(Boolean).map(async (name) => sized(await readFile(media.pathOf(name)))),
    );
    const times = fc.tuple(fc.nat(7900), fc.integer({ min: 1, max: 9000 }));
    await fc.assert(
      fc.asyncProperty(times, fc.nat(99), fc.nat(99), async ([start, length], from, share) => {
        const known = await load.clip(files, start / 1000, (start + length) / 1000);
        if (known instanceof UnsupportedMp4) return expect.fail(known.message);
        const { layout } = known;
        // To the nanosecond: 0.84 s is the frame at 0.8400000000000001 s.
        expect(layout.startSeconds).toBeLessThanOrEqual(start / 1000 + 1e-9);
        expect(layout.startSeconds).toBeGreaterThan(start / 1000 - 0.05);
        const whole = await read(layout, files, 0, layout.size - 1);
        const first = Math.floor((layout.size * from) / 100);
        const last = Math.min(layout.size - 1, first + Math.floor((layout.size * share) / 100));
        expect((await read(layout, files, first, last)).equals(whole.subarray(first, last + 1))).toBe(true);
      }),
      { numRuns: 25 },
    );
  });
});

describe.each(['clip', 'playlist', 'pair'] as const)('the layout of a %s', (kind) => {
  const sounds = kind === 'pair' ? ['indexed.m4a', 'short-indexed.m4a', 'ladder/aac-128.m4a'] : [];
  it.each([
    ['indexed.mp4', sounds[0]],
    [kind === 'pair' ? 'bframes.mp4' : 'muxed-indexed.mp4', sounds[1]],
    ['bframes.mp4', sounds[2]],
  ])('of %s with mangled headers is refused, fails, or keeps its length, beside %s', async (name, sound) => {
    const others = sound ? [sized(await readFile(media.pathOf(sound)))] : [];
    const original = await readFile(media.pathOf(name));
    const bytes = Buffer.from(original);
    const boxes = [0, 0.3, 0.5].map((share) =>
      Math.max(0, original.indexOf('moof', Math.floor(original.length * share))),
    );
    const place = fc.oneof(
      fc.nat(original.indexOf('mdat') + 8),
      ...boxes.map((at) => fc.integer({ min: at, max: at + 200 })),
    );
    await fc.assert(
      fc.asyncProperty(manglings(place), fc.nat(200), async (changes, start) => {
        original.copy(bytes);
        for (const [at, value] of changes) bytes[at] = value;
        const files = [sized(bytes), ...others];
        const loading = kind === 'clip' ? load.clip(files, start, start + 5) : load[kind](files);
        const known = await loading.catch((error: unknown) => error);
        if (known instanceof Error) return;
        const { layout } = known as KnownLayout;
        expect(layout.memoryBytes).toBeLessThan(2 * original.length + 1_000_000);
        await expectWholeOrError(layout, files);
      }),
      { numRuns: 60 },
    );
  });
});
