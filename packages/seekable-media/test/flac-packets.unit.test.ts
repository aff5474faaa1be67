import { expect, it } from 'vitest';
import { UnsupportedMp4 } from '../src/isobmff/index.ts';
import { scanFlacPackets } from '../src/mp4-clip/flac-packets.ts';
import {
  block,
  element,
  firstPage,
  HEADERS,
  MATROSKA,
  matroska,
  OGG,
  other,
  STREAM_INFO,
  TRACKS,
  track,
} from './flac-fixture.ts';

/** Runs a scan over bytes, which have all that it asks for, in ascending order. */
function scan(bytes: Buffer) {
  const steps = scanFlacPackets(bytes.length);
  let before = 0;
  for (let step = steps.next(); ; ) {
    if (step.done) return step.value;
    const { at, bytes: count } = step.value;
    expect([at >= before, at + count <= bytes.length]).toEqual([true, true]);
    before = at;
    step = steps.next(bytes.subarray(at, at + count));
  }
}

it.each([
  ['Ogg', OGG, 600, 8192],
  ['Matroska', MATROSKA, 500, 0],
])('finds the packets of %s', (_, bytes, size, samples) => {
  const found = scan(bytes);
  expect(found).toMatchObject({ streamInfo: STREAM_INFO, samples });
  const packets = found.runs.map((run) => bytes.subarray(run.offset, run.offset + run.size));
  expect(packets).toEqual([Buffer.alloc(size, 1), Buffer.alloc(size, 2)]);
});

it.each([
  ['nothing', Buffer.alloc(0)],
  ['another file', Buffer.from('fLaC and so on')],
  ['Ogg of another codec', other],
  ['Ogg without audio', Buffer.concat([firstPage(), HEADERS])],
  ['chained Ogg', Buffer.concat([OGG, firstPage(2)])],
  ['truncated Ogg', OGG.subarray(0, -1)],
  ['Ogg with bytes behind it', Buffer.concat([OGG, Buffer.alloc(99)])],
  ['truncated Matroska', MATROSKA.subarray(0, -1)],
  ['Matroska of another codec', matroska(track(2, 2, 'A_OPUS'), element('a3', block(1)))],
  ['compressed Matroska', matroska(track(2, 2, 'A_FLAC', element('6d80')), element('a3', block(1)))],
  ['laced Matroska', matroska(TRACKS, element('a3', block(1, 2, 2)))],
  ['encrypted Matroska', matroska(TRACKS, element('a3', block(1)), element('af', block(2)))],
  ['Matroska without audio', matroska(TRACKS, element('a3', block(1, 1)))],
  ['an empty block', matroska(TRACKS, element('a3', Buffer.from([0x82])))],
  ['blocks before their track', matroska(Buffer.alloc(0), element('a3', block(1)))],
])('finds none in %s', (_, bytes) => expect(() => scan(bytes)).toThrow(UnsupportedMp4));

it.each([
  ['Ogg', OGG],
  ['Matroska', MATROSKA],
])('ends for %s with any byte changed', (_, bytes) => {
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0xff;
    try {
      scan(changed);
    } catch (error) {
      expect(error).toBeInstanceOf(UnsupportedMp4);
    }
  }
});
