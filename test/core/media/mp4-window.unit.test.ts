import { describe, expect, it } from 'vitest';
import { box, fullBox, indexBox, u32, u64 } from '../../../core/media/isobmff/boxes.ts';
import { parseInitTracks } from '../../../core/media/isobmff/init-segment.ts';
import {
  createPlacement,
  inspectSegment,
  MOOF_AHEAD,
  writeWindowHeader,
} from '../../../core/media/mp4-window/index.ts';

const NONE = u32(0);

/** An initialization section of one track with 10 units per second. @param edits entries of its edit list */
function initOf(...edits: readonly Buffer[]): Buffer {
  const stbl = box('stbl', fullBox('stsd', 0, 0, NONE));
  const mdia = box(
    'mdia',
    fullBox('mdhd', 0, 0, u32(0, 0, 10, 0, 0)),
    fullBox('hdlr', 0, 0, NONE, Buffer.from('vide')),
    box('minf', stbl),
  );
  const elst = fullBox('elst', edits[0]?.length === 20 ? 1 : 0, 0, u32(edits.length), ...edits);
  const trak = box('trak', fullBox('tkhd', 0, 0, u32(0, 0, 1, 0, 0)), box('edts', elst), mdia);
  const mvex = box('mvex', fullBox('trex', 0, 0, u32(1, 1, 1, 0, 0)));
  return Buffer.concat([box('ftyp', NONE), box('moov', fullBox('mvhd', 0, 0, u32(0, 0, 1000, 0, 0)), trak, mvex)]);
}
const movieOf = (init: Buffer) => init.subarray(12);

/** Four samples from second 20 on. */
const moof = box(
  'moof',
  box('traf', fullBox('tfhd', 0, 0, u32(1)), fullBox('tfdt', 1, 0, u64(200)), fullBox('trun', 0, 0, u32(4))),
);
const segment = Buffer.concat([moof, box('mdat', Buffer.alloc(100))]);

describe('the facts of a segment', () => {
  const tracks = parseInitTracks(movieOf(initOf()));
  const whole = { bytes: segment.length, start: 20, end: 20.4 };

  it('are read of the first bytes with its moof and the header of its mdat, or these are requested', () => {
    const needed = moof.length + 16;
    expect(inspectSegment(segment, segment.length, tracks)).toEqual(whole);
    expect(inspectSegment(segment.subarray(0, needed), segment.length, tracks)).toEqual(whole);
    for (const bytes of [8, 60, moof.length, moof.length + 4, needed - 1])
      expect(inspectSegment(segment.subarray(0, bytes), segment.length, tracks)).toEqual({
        kind: MOOF_AHEAD,
        bytes: needed,
      });
  });

  it.each([
    ['32 bits', u32(2500, 0xffff_ffff, 0x1_0000), u32(0, 3, 0x1_0000)],
    [
      '64 bits',
      Buffer.concat([u64(2500), u64(2n ** 64n - 1n), u32(0x1_0000)]),
      Buffer.concat([u64(0), u64(3), u32(0x1_0000)]),
    ],
  ])('have the delay of an edit list with %s, which the file has in its times', (_, empty, rest) => {
    const init = initOf(empty, rest);
    const [track] = parseInitTracks(movieOf(init));
    const facts = inspectSegment(segment, segment.length, track ? [track] : []);
    expect(facts).toEqual({ ...whole, start: 22.5, end: 22.9 });
    if ('kind' in facts || !track) return;
    const placed = createPlacement(facts.start).add({ facts, seconds: 1 });
    const header = writeWindowHeader(init, { tracks: [track], segments: [placed] });
    const edits = indexBox(header.subarray(12))?.find('trak', 'edts');
    expect(edits?.children.map(({ type, whole }) => [type, whole])).toEqual([
      ['elst', fullBox('elst', empty.length === 20 ? 1 : 0, 0, u32(1), rest)],
      ['free', box('free', Buffer.alloc(empty.length - 8)).fill(rest.subarray(8 - rest.length), 8)],
    ]);
    expect(parseInitTracks(header.subarray(12))[0]?.delaySeconds).toBe(0);
  });
});
