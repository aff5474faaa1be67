import { describe, expect, it } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { packetsIn } from '../../support/expect-packets.ts';
import { inspect, picturesOf, probeBody, startSecondsOf } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { audioTrack, expectSized, expectUnsized, refusalOf, trackOf } from '../fixture.ts';
import { useFolderSite } from '../folder-site.ts';
import { AAC, copyOf, H264, HEVC, packed, tone, transport } from '../matrix/sources.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=25:d=20'];
const WIDE = ['-f', 'lavfi', '-i', 'testsrc=s=96x48:r=25:d=6'];
const TONE = tone(400);
const MP3 = ['-c:a', 'libmp3lame', '-ar', '44100'];
const BOTH = [...PICTURE, ...TONE, ...H264, ...AAC];
const segments = (name: string, seconds: string, ...more: string[]): string[] => [
  ...['-f', 'segment', '-segment_format', 'mpegts', '-segment_time', seconds, '-segment_list', `${name}.m3u8`],
  ...[...more, `${name}%d.ts`],
];

const site = useFolderSite([
  [...BOTH, ...transport('aac')],
  [...PICTURE, ...TONE, ...HEVC, ...AAC, ...transport('hevc')],
  [...PICTURE, ...TONE, ...H264, '-x264-params', 'open-gop=1:slices=4', ...AAC, ...transport('open')],
  [...WIDE, ...TONE, '-t', '6', ...H264, ...AAC, ...transport('wide')],
  [...WIDE, ...TONE, '-t', '6', ...HEVC, ...AAC, ...transport('widehevc')],
  [...PICTURE, ...H264, ...transport('mute')],
  [...PICTURE, ...TONE, ...H264, '-c:a', 'mp2', ...transport('layer2')],
  [...BOTH, '-flags', '+ilme+ildct', ...transport('fields')],
  [...BOTH, '-g', '25', ...segments('many', '1')],
  [...TONE, ...AAC, ...packed('adts', ['adts', 'aac'])],
  [...BOTH, ...transport('latm', '-hls_segment_options', 'mpegts_flags=latm')],
  // The muxer of lists says that it is ADTS.
  [...BOTH, ...segments('declared', '4', '-segment_format_options', 'mpegts_flags=latm', '-segment_list_type', 'm3u8')],
  [...TONE, ...AAC, ...packed('short', ['adts', 'aac'], '0.4')],
  [...TONE, ...MP3, ...packed('described', ['mp3', 'mp3'])],
  [...TONE, ...MP3, '-write_xing', '0', 'frames.mp3'],
  ...['aac', 'many', 'short'].map((name) => copyOf(`${name}.m3u8`, '-map', '0', `${name}.copy.mp4`)),
]);
const { texts, pathOf: made, linesOf } = site;

/** A process without what another one has stored, which asks for a list. */
async function serve(name: string, create: (traits: Partial<Track>) => Track = (traits) => trackOf('f', traits)) {
  const track = create(site.listOf(name));
  return (await site.serve([track], { durationSeconds: 20 })).media(track.formatId);
}

/** An ID3 tag with the time of packed audio, in 1/90,000 s. */
function timeTag(ticks: number): Buffer {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(ticks) % 2n ** 33n);
  const content = Buffer.concat([Buffer.from('com.apple.streaming.transportStreamTimestamp\0'), time]);
  const [tag, frame] = [Buffer.from('ID3\x04\0\0\0\0\0\0'), Buffer.from('PRIV\0\0\0\0\0\0')];
  frame.writeUInt8(content.length, 7);
  tag.writeUInt8(content.length + frame.length, 9);
  return Buffer.concat([tag, frame, content]);
}

const expectFile = async (url: string, codecs: readonly string[], extension = '.mp4') => {
  const { body } = await expectSeekable(url);
  const found = await inspect(body, extension);
  expect({ complaints: found.complaints, codecs: found.codecs }).toEqual({ complaints: '', codecs });
  return body;
};

/** Expects all of a list without a length: as FFmpeg makes it. */
async function expectStream(url: string, sound = 'aac'): Promise<void> {
  const { body } = await expectUnsized(url);
  const { codecs, durationSeconds } = await probeBody(body, '.mp4');
  expect([codecs, Math.round(durationSeconds)]).toEqual([['h264', sound], 20]);
}

/** Three packets. */
const CUT_BYTES = 3 * 188;
/** The service description, the programs and the map of the first one, which FFmpeg begins each segment with. */
const tablesOf = (segment: Buffer) => segment.subarray(0, 3 * 188);

// What it has in common with other sources is in the matrix (test/stream-service/matrix).
describe('a list of MPEG-TS', () => {
  it('begins with time 0, as players show the list, and with every picture', async () => {
    for (const name of ['aac', 'mute', 'open']) {
      const { body } = await sendRequest(await serve(name));
      expect([name, await startSecondsOf(body)]).toEqual([name, 0]);
    }
  });

  // Of the first segment, and of the one that is tried, more is read.
  it.each([
    ['aac', 'each of the few', undefined, 7],
    ['many', 'some of many', undefined, 8],
    [
      'many',
      'each where the list tells other times',
      (told: string, index: number) => (index === 9 ? '1.5' : told),
      27,
    ],
  ])('in byte ranges of one file is known by a request for %s: %s', async (name, _, secondsOf, requests) => {
    site.listRanges(name, secondsOf ? { secondsOf } : {});
    const url = await serve('ranges');
    const head = await sendRequest(url, { method: 'HEAD' });
    expect([site.asked.filter((path) => path === 'all').length, head.headers['accept-ranges']]).toEqual([
      requests,
      'bytes',
    ]);
    await site.expectPackets(await expectFile(url, ['h264', 'aac']), `${name}.copy.mp4`);
  });

  it.each([
    ['aac', 'wide', 'avcC'],
    ['hevc', 'widehevc', 'hvcC'],
  ])('with another encoding between discontinuities is one file, whose pictures are decoded: %s', async (...names) => {
    const [name, other, configuration] = names;
    site.joinLists('mixed', name, other, name);
    const body = await expectSized(await serve('mixed'));
    expect(body.toString('latin1').split(configuration).length - 1).toBe(2);
    const [pictures, others] = [await picturesOf(made(`${name}.m3u8`)), await picturesOf(made(`${other}.m3u8`))];
    expect(await picturesOf(body)).toEqual([...pictures, ...others, ...pictures]);
  });

  /** Serves a list whose tables are in its initialization section alone, as `mapped`. */
  const mapTables = (name: string) => {
    const isTable = (packet: Buffer) => [0, 17, 4096].includes(packet.readUInt16BE(1) & 0x1fff);
    const packetsOfSegment = (line: string) => {
      const segment = site.read(line);
      return Array.from({ length: segment.length / 188 }, (_, at) => segment.subarray(at * 188, (at + 1) * 188));
    };
    const lines = linesOf(name).map((line) => {
      if (!line.startsWith(name)) return line;
      texts.set('tables', Buffer.concat(packetsOfSegment(line).filter(isTable).slice(0, 3)));
      texts.set(`mapped-${line}`, Buffer.concat(packetsOfSegment(line).filter((packet) => !isTable(packet))));
      return `mapped-${line}`;
    });
    const first = lines.findIndex((line) => line.startsWith('#EXTINF'));
    texts.set('mapped.m3u8', Buffer.from(lines.toSpliced(first, 0, '#EXT-X-MAP:URI="tables"').join('\n')));
  };

  it('whose tables are in an initialization section is one MP4, or left to FFmpeg where it is no file', async () => {
    mapTables('aac');
    await site.expectPackets(await expectFile(await serve('mapped'), ['h264', 'aac']), 'aac.copy.mp4');
    mapTables('fields');
    site.handlers.clear();
    await expectStream(await serve('mapped'));
  });

  it.each([
    ['fields', 'aac'],
    // MP4 has one name for both layers.
    ['layer2', 'mp3'],
  ])('that cannot be read as a file is left to FFmpeg: %s', async (name, codec) => {
    await expectStream(await serve(name), codec);
  });

  it.each(['latm', 'declared'])('with LATM is refused, because MP4 cannot hold it, but converted: %s', async (name) => {
    const url = await serve(name);
    expect(await refusalOf(url)).toEqual([415, 'MP4 cannot hold the codecs of this source.']);
    const converted = await sendRequest(`${url}?format=mp3`);
    expect([converted.status, (await probeBody(converted.body, '.mp3')).codecs]).toEqual([200, ['mp3']]);
  });

  it('with encryption of samples is refused by the name of its method', async () => {
    const [first = '', ...rest] = linesOf('aac');
    texts.set('samples.m3u8', Buffer.from([first, '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="key"', ...rest].join('\n')));
    expect(await refusalOf(await serve('samples'))).toEqual([415, 'Unsupported encryption method SAMPLE-AES.']);
  });

  it.each([
    ['before the tables', (rest: Buffer, next: Buffer) => [rest, next]],
    ['behind the tables', (rest: Buffer, next: Buffer) => [tablesOf(next), rest, next]],
  ])('whose packets are cut between two segments is left to FFmpeg: %s', async (_, join) => {
    const [first, second] = [site.read('aac0.ts'), site.read('aac1.ts')];
    texts.set('aac0.ts', first.subarray(0, -CUT_BYTES));
    texts.set('aac1.ts', Buffer.concat(join(first.subarray(-CUT_BYTES), second)));
    await expectStream(await serve('aac'));
  });
});

describe('a list of audio', () => {
  it('is timed by its ID3 tags', async () => {
    for (const index of [0, 1, 2, 3, 4]) {
      const tag = timeTag(2 ** 33 - 90_000 + index * 360_000);
      texts.set(`adts${index}.aac`, Buffer.concat([tag, site.read(`adts${index}.aac`)]));
    }
    const body = await expectFile(await serve('adts', audioTrack), ['aac'], '.m4a');
    const times = ((await packetsIn(body)).a ?? []).map(({ seconds }) => seconds);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    // Frames of 21.3 ms do not fill four seconds: each segment begins at the time of its tag.
    expect(Math.max(...gaps)).toBeLessThan(0.05);
    expect(gaps.reduce((sum, gap) => sum + gap, 0)).toBeGreaterThan(19.9);
  });

  it('in short segments without times lasts as long as all of them', async () => {
    const body = await expectFile(await serve('short', audioTrack), ['aac'], '.m4a');
    expect((await probeBody(body, '.m4a')).durationSeconds).toBeCloseTo(20, 1);
    await site.expectPackets(body, 'short.copy.mp4');
  });

  it('of MP3 has no frames that describe the segments', async () => {
    const body = await expectFile(await serve('described', audioTrack), ['mp3'], '.m4a');
    await site.expectPackets(body, 'frames.mp3');
  });
});
