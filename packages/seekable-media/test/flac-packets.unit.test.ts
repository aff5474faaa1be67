import { expect, it } from 'vitest';
import { UnsupportedMp4 } from '../src/isobmff/index.ts';
import { scanFlacPackets } from '../src/mp4-clip/flac-packets.ts';

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

const STREAM_INFO = Buffer.alloc(34, 7);
const BLOCK = Buffer.from([0, 0, 0, 34]);

interface Page {
  readonly flags?: number;
  readonly serial?: number;
  readonly granule?: number;
}

function page(data: Buffer, { flags = 0, serial = 1, granule = 0 }: Page = {}, isEnd = true): Buffer {
  const segments = [...Array.from({ length: Math.floor(data.length / 255) }, () => 255)];
  if (isEnd) segments.push(data.length % 255);
  const header = Buffer.alloc(27);
  header.write('OggS');
  header[5] = flags;
  header.writeBigInt64LE(BigInt(granule), 6);
  header.writeUInt32LE(serial, 14);
  header[26] = segments.length;
  return Buffer.concat([header, Buffer.from(segments), data]);
}

const firstPage = (serial = 1) =>
  page(Buffer.concat([Buffer.from('\x7fFLAC\x01\0\0\x02fLaC', 'latin1'), BLOCK, STREAM_INFO]), { flags: 2, serial });
/** A comment of two pages, and padding, which is the last header. */
const HEADERS = Buffer.concat([
  page(Buffer.alloc(510, 4), {}, false),
  page(Buffer.alloc(9, 4), { flags: 1 }),
  page(Buffer.from([0x81, 0])),
]);
const audioPage = (value: number, granule: number) => page(Buffer.alloc(600, value), { granule });
const other = page(Buffer.from('fishead'), { flags: 2, serial: 9 });
const OGG = Buffer.concat([
  firstPage(),
  other,
  HEADERS,
  audioPage(1, 4096),
  page(Buffer.alloc(3), { serial: 9 }),
  audioPage(2, 8192),
]);

const element = (id: string, ...content: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(content);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0x1000_0000 + bytes.length);
  return Buffer.concat([Buffer.from(id, 'hex'), size, bytes]);
};
const track = (number: number, type: number, codec: string, ...more: readonly Buffer[]) =>
  element(
    'ae',
    ...[element('d7', Buffer.from([number])), element('83', Buffer.from([type])), element('86', Buffer.from(codec))],
    ...[element('63a2', Buffer.from('fLaC'), BLOCK, STREAM_INFO), ...more],
  );
const block = (value: number, number = 2, flags = 0) =>
  Buffer.concat([Buffer.from([0x80 + number, 0, 0, flags]), Buffer.alloc(500, value)]);
const matroska = (tracks: Buffer, ...blocks: readonly Buffer[]) =>
  Buffer.concat([
    element('1a45dfa3', element('4282', Buffer.from('matroska'))),
    element('18538067', element('1654ae6b', tracks), element('1f43b675', element('e7', Buffer.from([0])), ...blocks)),
  ]);
const TRACKS = Buffer.concat([track(1, 1, 'V_VP9'), track(2, 2, 'A_FLAC')]);
const MATROSKA = matroska(
  TRACKS,
  element('a3', block(1)),
  element('a3', block(9, 1)),
  element('a0', element('a1', block(2))),
);

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
