import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseBoxes, UnsupportedMp4 } from '../../../../packages/seekable-media/src/isobmff/boxes.ts';
import { measureFragment } from '../../../../packages/seekable-media/src/isobmff/movie-fragment.ts';
import { parseSampleTable } from '../../../../packages/seekable-media/src/isobmff/sample-table.ts';
import type { TrackHeader } from '../../../../packages/seekable-media/src/isobmff/track-header.ts';
import type { SizedFile } from '../../../../stream-service/source/open-source.ts';
import { ensureMedia } from '../../../origin/media.ts';
import {
  arrangements,
  type GeneratedSample,
  generateFile,
  headerOf,
  readTemplate,
  samples,
} from './generated-source.ts';
import { layOut, read, sized } from './layouts-in-memory.ts';

let templates: { readonly video: TrackHeader; readonly audio: TrackHeader };
beforeAll(async () => {
  const media = await ensureMedia();
  templates = {
    video: readTemplate(`${media}/ladder/h264-360.mp4`, 'vide', 90_000),
    audio: readTemplate(`${media}/ladder/aac-128.m4a`, 'soun', 44_100),
  };
});

/** Media bytes of a track of the output in decode order, and its duration, by the tables of the output alone. */
function demux(file: Buffer, kind: 'vide' | 'soun', timescale: number) {
  const boxes = [...parseBoxes(file)];
  expect(boxes.at(-1)?.end).toBe(file.length);
  const header = headerOf(file, kind);
  const parts: Buffer[] = [];
  if (!header.fragmentDefaults) {
    const sample = parseSampleTable(header.sampleTable).cursor();
    const rows: unknown[] = [];
    while (sample.next()) {
      parts.push(file.subarray(sample.offset, sample.offset + sample.size));
      rows.push([sample.duration, sample.compositionOffset, sample.isSync]);
    }
    return { media: Buffer.concat(parts), duration: sample.decodeTime + sample.duration, rows };
  }
  // All tracks of fragments have the same unit.
  const factor = header.timescale / timescale;
  let duration = 0;
  for (const { type, start, end } of boxes) {
    if (type !== 'moof') continue;
    const moof = { bytes: file.subarray(start, end), offset: start };
    const { ranges, startTime, endTime } = measureFragment(moof, header.id, header.fragmentDefaults);
    if (ranges.length > 0) expect(startTime).toBe(duration);
    duration = Math.max(duration, endTime);
    for (const { first, bytes } of ranges) parts.push(file.subarray(first, first + bytes));
  }
  return { media: Buffer.concat(parts), duration: duration / factor };
}

const expectedOf = (all: readonly GeneratedSample[]) => ({
  media: Buffer.concat(all.map(({ bytes }) => bytes)),
  duration: all.reduce((sum, { duration }) => sum + duration, 0),
});

/** Pictures that are delayed by more than their fragment lasts. */
const DELAYED = Array.from({ length: 4 }, (_, index) => ({
  duration: 512,
  composition: index === 1 ? 2045 : 0,
  isSync: index === 0,
  bytes: Buffer.alloc(index % 3 === 0 ? 1 : 0, 60),
}));
const SOUND = [{ duration: 1, composition: 0, isSync: true, bytes: Buffer.alloc(1, 60) }];
const PLAIN = { groups: [3, 1], gap: 0, isMovieLast: false, hasLargeOffsets: false };

describe('the layout of generated files', () => {
  it('has every sample of both, and the same bytes by any set of ranges', async () => {
    const cuts = fc.array(fc.nat(0xffff), { maxLength: 12 });
    let layouts = 0;
    await fc.assert(
      fc.asyncProperty(samples, samples, arrangements, arrangements, cuts, async (video, audio, one, other, at) => {
        const files = [
          sized(generateFile(templates.video, video, one)),
          sized(generateFile(templates.audio, audio, other)),
        ];
        const layout = await layOut(files).catch((error) => {
          // Durations that differ too much, and more fragments without an index than are worth reading.
          expect(error).toBeInstanceOf(UnsupportedMp4);
          return undefined;
        });
        if (!layout) return;
        layouts += 1;
        const whole = await read(layout, files, 0, layout.size - 1);
        expect(whole.length).toBe(layout.size);
        for (const [kind, all] of [
          ['vide', video],
          ['soun', audio],
        ] as const) {
          const { media, duration, rows } = demux(whole, kind, kind === 'vide' ? 90_000 : 44_100);
          const expected = expectedOf(all);
          expect(media.equals(expected.media)).toBe(true);
          expect(duration).toBe(expected.duration);
          if (rows) expect(rows).toEqual(all.map((sample) => [sample.duration, sample.composition, sample.isSync]));
        }
        const ends = [...new Set([...at.map((cut) => cut % layout.size), layout.size - 1])].sort((a, b) => a - b);
        const parts = ends.map((last, index) => read(layout, files, (ends[index - 1] ?? -1) + 1, last));
        const joined = Buffer.concat(await Promise.all(parts));
        expect(joined.equals(whole)).toBe(true);
      }),
      {
        numRuns: 150,
        examples: [[DELAYED, SOUND, { ...PLAIN, form: 'unindexed' }, { ...PLAIN, form: 'progressive' }, []]],
      },
    );
    expect(layouts).toBeGreaterThan(75);
  });
});

describe('headers that contradict the media', () => {
  const generated = (form: 'indexed' | 'progressive') => {
    const all = Array.from({ length: 60 }, (_, index) => ({
      duration: 3000,
      composition: 0,
      isSync: index % 10 === 0,
      bytes: Buffer.alloc(500, index),
    }));
    return generateFile(templates.video, all, { ...PLAIN, form, groups: [10] });
  };
  const audio = () => {
    const sample = { duration: 1024, composition: 0, isSync: true, bytes: Buffer.alloc(90, 7) };
    return generateFile(templates.audio, Array(80).fill(sample), { ...PLAIN, form: 'progressive', groups: [20] });
  };

  /** A 32-bit field of the first box of a type has another value, at an offset from that type. */
  it.each([
    ['a size of the first fragment that does not match', 'indexed', 'sidx', 36, 5000],
    ['a size beyond the file', 'indexed', 'sidx', 36, 0x7fff_ffff],
    ['2^32-1 samples in the first fragment', 'indexed', 'trun', 8, 0xffff_ffff],
    ['another track in the first fragment', 'indexed', 'tfhd', 8, 9],
    ['2^32-1 samples', 'progressive', 'stsz', 12, 0xffff_ffff],
    ['2^32-1 durations', 'progressive', 'stts', 8, 0xffff_ffff],
    ['2^32-1 composition offsets', 'progressive', 'ctts', 8, 0xffff_ffff],
    ['2^32-1 sync samples', 'progressive', 'stss', 8, 0xffff_ffff],
    ['2^32-1 chunks', 'progressive', 'stco', 8, 0xffff_ffff],
    ['2^32-1 runs of chunks', 'progressive', 'stsc', 8, 0xffff_ffff],
    ['overlapping chunks', 'progressive', 'stco', 16, 700],
    ['a sample of 2 GB', 'progressive', 'stsz', 16, 0x7fff_ffff],
  ] as const)('have no layout: %s', async (_name, form, type, at, value) => {
    const file = generated(form);
    file.writeUInt32BE(value, file.indexOf(type, 0, 'latin1') + at);
    await expect(layOut([sized(file), sized(audio())])).rejects.toBeInstanceOf(Error);
  });

  it('break the stream where a later fragment has another size', async () => {
    const file = generated('indexed');
    // The second and third entry of the index: the sum stays.
    const index = file.indexOf('sidx', 0, 'latin1');
    file.writeUInt32BE(file.readUInt32BE(index + 48) + 100, index + 48);
    file.writeUInt32BE(file.readUInt32BE(index + 60) - 100, index + 60);
    const files = [sized(file), sized(audio())];
    const layout = await layOut(files);
    await expect(read(layout, files, 0, layout.size - 1)).rejects.toBeInstanceOf(UnsupportedMp4);
  });

  it('are not read when they have 100 MB', async () => {
    const file = generated('progressive');
    const reads: number[] = [];
    const claimed = 100 * 1024 * 1024;
    file.writeUInt32BE(claimed, file.indexOf('moov', 0, 'latin1') - 4);
    const source = sized(file);
    const large: SizedFile = {
      ...source,
      size: claimed + 1000,
      read(first, last = 0) {
        reads.push(last - first + 1);
        return source.read(first, Math.min(last, file.length - 1));
      },
    };
    await expect(layOut([large, sized(audio())])).rejects.toBeInstanceOf(UnsupportedMp4);
    expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(128 * 1024);
  });
});
