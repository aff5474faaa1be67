import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { inspect, picturesOf, probeBody, startSecondsOf, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectRanges } from '../../support/seekable.ts';
import { audioTrack, mediaKey, trackOf } from '../fixture.ts';
import { expectBothAfterSeeks, useFolderSite } from '../folder-site.ts';

const run = promisify(execFile);
const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=25:d=20'];
const WIDE = ['-f', 'lavfi', '-i', 'testsrc=s=96x48:r=25:d=6'];
const TONE = ['-f', 'lavfi', '-i', 'sine=400:r=48000:d=20'];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50', '-bf', '2'];
const HEVC = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none:keyint=50', '-tag:v', 'hvc1'];
const hls = (name: string, ...coded: string[]): string[] => [
  ...[...coded, '-f', 'hls', '-hls_time', '4', '-hls_list_size', '0', '-hls_playlist_type', 'vod'],
  ...['-hls_segment_filename', `${name}%d.ts`, `${name}.m3u8`],
];
const segments = (name: string, format: string, extension: string, seconds: string, ...coded: string[]): string[] => [
  ...[...coded, '-f', 'segment', '-segment_format', format, '-segment_time', seconds, '-segment_list', `${name}.m3u8`],
  `${name}%d.${extension}`,
];
const SOUNDS = {
  aac: ['-c:a', 'aac'],
  mp3: ['-c:a', 'libmp3lame', '-ar', '44100'],
  ac3: ['-c:a', 'ac3'],
  eac3: ['-c:a', 'eac3'],
};
/** Time stamps of MPEG-TS begin again after 95,443.7 s. */
const BEFORE_WRAP = ['-output_ts_offset', '95435'];

const site = useFolderSite([
  ...Object.entries(SOUNDS).map(([name, sound]) => hls(name, ...PICTURE, ...TONE, ...H264, ...sound)),
  hls('hevc', ...PICTURE, ...TONE, ...HEVC, ...SOUNDS.aac),
  hls('open', ...PICTURE, ...TONE, ...H264, '-x264-params', 'open-gop=1:slices=4', ...SOUNDS.aac),
  hls('wrap', ...PICTURE, ...TONE, ...H264, ...SOUNDS.aac, ...BEFORE_WRAP),
  hls('wide', ...WIDE, ...TONE, '-t', '6', ...H264, ...SOUNDS.aac),
  hls('widehevc', ...WIDE, ...TONE, '-t', '6', ...HEVC, ...SOUNDS.aac),
  hls('mute', ...PICTURE, ...H264),
  hls('sound', ...TONE, ...SOUNDS.aac),
  hls('layer3', ...TONE, ...SOUNDS.mp3),
  hls('layer2', ...PICTURE, ...TONE, ...H264, '-c:a', 'mp2'),
  hls('fields', ...PICTURE, ...TONE, ...H264, ...SOUNDS.aac, '-flags', '+ilme+ildct'),
  segments('many', 'mpegts', 'ts', '1', ...PICTURE, ...TONE, ...H264, '-g', '25', ...SOUNDS.aac),
  segments('adts', 'adts', 'aac', '4', ...TONE, ...SOUNDS.aac),
  hls('latm', ...PICTURE, ...TONE, ...H264, ...SOUNDS.aac, '-hls_segment_options', 'mpegts_flags=latm'),
  // The muxer of lists says that it is ADTS.
  segments(
    ...(['declared', 'mpegts', 'ts', '4', ...PICTURE, ...TONE, ...H264, ...SOUNDS.aac] as const),
    ...['-segment_format_options', 'mpegts_flags=latm', '-segment_list_type', 'm3u8'],
  ),
  segments('short', 'adts', 'aac', '0.4', ...TONE, ...SOUNDS.aac),
  segments('described', 'mp3', 'mp3', '4', ...TONE, ...SOUNDS.mp3),
  segments(
    'frames',
    'mp3',
    'mp3',
    '4',
    ...TONE,
    ...SOUNDS.mp3,
    '-segment_format_options',
    'write_xing=0:id3v2_version=0',
  ),
]);
const { texts, pathOf: made, linesOf } = site;

/** A process without what another one has stored, which asks for a list. */
async function serve(name: string, create: (traits: Partial<Track>) => Track = (traits) => trackOf('f', traits)) {
  const track = create(site.listOf(name));
  const { url } = await site.serve([track], { durationSeconds: 20 });
  return `${url}/api/Stream/Media/${mediaKey(track.formatId)}`;
}

const SEGMENTS = [0, 1, 2, 3, 4];
const segmentOf = (index: number) => site.read(`aac${index}.ts`);
const adtsOf = (index: number) => site.read(`adts${index}.aac`);
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

interface Packet {
  readonly seconds: number;
  readonly digest: string;
}

type Packets = Readonly<Record<'v' | 'a', readonly Packet[]>>;

/** The packets of each side of a file, and when they are shown or heard. */
async function packetsIn(file: string): Promise<Packets> {
  const entries = ['-show_entries', 'packet=codec_type,pts_time,data_hash', '-show_data_hash', 'md5', '-of', 'json'];
  const { stdout } = await run('ffprobe', ['-v', 'error', ...entries, file], { maxBuffer: 2 ** 26 });
  const { packets }: { packets: { codec_type: string; pts_time: string; data_hash: string }[] } = JSON.parse(stdout);
  const of = (type: string) =>
    packets
      .filter(({ codec_type }) => codec_type === type)
      .map(({ pts_time, data_hash }) => ({ seconds: Number(pts_time), digest: data_hash }));
  return { v: of('video'), a: of('audio') };
}

/** Of what FFmpeg copies of a list, by its name. */
const copies = new Map<
  string,
  Promise<{ readonly packets: Packets; readonly pictures: Awaited<ReturnType<typeof picturesOf>> }>
>();
const copyOf = (name: string) => {
  const made = copies.get(name) ?? withTemporaryFolder((place) => copyInto(join(place, 'copy.mp4'), name));
  copies.set(name, made);
  return made;
};
async function copyInto(copy: string, name: string) {
  await run('ffmpeg', ['-v', 'error', '-i', made(`${name}.m3u8`), '-map', '0', '-c', 'copy', copy]);
  return { packets: await packetsIn(copy), pictures: name === 'hevc' ? await picturesOf(copy) : [] };
}

/** Expects the packets of what FFmpeg makes of a list, each within a millisecond of its time there. */
const expectPackets = (body: Buffer, name: string, sides: readonly ('v' | 'a')[] = ['v', 'a']) =>
  withTemporaryFolder(async (place) => {
    const file = join(place, 'body.mp4');
    await writeFile(file, body);
    const [all, copy] = [await packetsIn(file), await copyOf(name)];
    // FFmpeg writes parameter sets of HEVC into the packets, too.
    if (name === 'hevc') expect(await picturesOf(file)).toEqual(copy.pictures);
    let origins: readonly number[] | undefined;
    for (const side of sides) {
      const [sent, expected] = [all[side], copy.packets[side]];
      expect(sent.length).toBe(expected.length);
      if (name !== 'hevc' || side === 'a')
        expect(sent.map(({ digest }) => digest)).toEqual(expected.map(({ digest }) => digest));
      // Of audio alone, FFmpeg makes up the times in the first PES packet.
      const known = sides.includes('v') ? 0 : 20;
      origins ??= [sent[known]?.seconds ?? 0, expected[known]?.seconds ?? 0];
      const [from = 0, expectedFrom = 0] = origins;
      const apart = sent
        .map(({ seconds }, index) => seconds - from - ((expected[index]?.seconds ?? 0) - expectedFrom))
        .slice(known);
      expect([side, Math.max(...apart.map(Math.abs))]).toEqual([side, expect.toSatisfy((most) => most <= 0.001)]);
    }
  });

const expectFile = async (url: string, codecs: readonly string[], extension = '.mp4') => {
  const { body, headers } = await sendRequest(url);
  expect(headers).toMatchObject({
    'accept-ranges': 'bytes',
    'content-length': String(body.length),
    etag: expect.stringMatching(/^"/),
  });
  const head = await sendRequest(url, { method: 'HEAD' });
  for (const name of ['content-length', 'accept-ranges', 'etag']) expect(head.headers[name]).toBe(headers[name]);
  const found = await inspect(body, extension);
  expect({ complaints: found.complaints, codecs: found.codecs }).toEqual({ complaints: '', codecs });
  return body;
};

/** Expects all of a list without a length: as FFmpeg makes it. */
async function expectStream(url: string, sound = 'aac'): Promise<void> {
  const { status, headers, body } = await sendRequest(url);
  expect([status, headers['accept-ranges'], headers['content-length']]).toEqual([200, 'none', undefined]);
  const { codecs, durationSeconds } = await probeBody(body, '.mp4');
  expect([codecs, Math.round(durationSeconds)]).toEqual([['h264', sound], 20]);
}

/** Three packets. */
const CUT_BYTES = 3 * 188;
/** The service description, the programs and the map of the first one, which FFmpeg begins each segment with. */
const tablesOf = (segment: Buffer) => segment.subarray(0, 3 * 188);

describe('a complete list of MPEG-TS', () => {
  it.each([
    ['aac', ['h264', 'aac']],
    ['mp3', ['h264', 'mp3']],
    ['ac3', ['h264', 'ac3']],
    ['eac3', ['h264', 'eac3']],
    ['hevc', ['hevc', 'aac']],
    ['open', ['h264', 'aac']],
    ['wrap', ['h264', 'aac']],
  ])('is one MP4 of exact length with the packets and times that FFmpeg copies: %s', async (name, codecs) => {
    await expectPackets(await expectFile(await serve(name), codecs), name);
  });

  it.each(['aac', 'open', 'hevc'])('keeps both tracks to the end of twelve seconds after a seek: %s', async (name) => {
    const { body } = await sendRequest(await serve(name));
    await expectBothAfterSeeks(body, 560);
  });

  it('without sound is one MP4', async () => {
    await expectPackets(await expectFile(await serve('mute'), ['h264']), 'mute', ['v']);
  });
});

describe('a list of MPEG-TS', () => {
  it('has the same bytes in every process, in any range', async () => {
    const whole = await sendRequest(await serve('aac'));
    await site.service?.close();
    await expectRanges(await serve('aac'), whole);
  });

  it('begins with time 0, as players show the list, and with every picture', async () => {
    for (const name of ['aac', 'mute', 'open']) {
      const { body } = await sendRequest(await serve(name));
      await site.service?.close();
      expect([name, await startSecondsOf(body)]).toEqual([name, 0]);
    }
  });

  it('has clips, a presentation, and its sound alone', async () => {
    const url = await serve('aac');
    const clip = await expectFile(`${url}?start=5.4&end=9`, ['h264', 'aac']);
    expect(Math.abs((await probeBody(clip, '.mp4')).durationSeconds - 3.6)).toBeLessThan(0.1);
    const master = await sendRequest(url.replace('/Media/', '/Hls/').concat('/master.m3u8'));
    expect([master.status, master.body.toString()]).toEqual([200, expect.stringContaining('both.m3u8')]);
    const sound = await sendRequest(`${url}?format=m4a`);
    expect([sound.status, (await probeBody(sound.body, '.m4a')).codecs]).toEqual([200, ['aac']]);
  });

  it('encrypted with AES-128 is decrypted', async () => {
    site.encryptList('aac');
    await expectPackets(await expectFile(await serve('secret'), ['h264', 'aac']), 'aac');
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
    await expectPackets(await expectFile(url, ['h264', 'aac']), name);
  });

  it.each([
    ['aac', 'wide', 'avcC'],
    ['hevc', 'widehevc', 'hvcC'],
  ])('with another encoding between discontinuities is one file, whose pictures are decoded: %s', async (...names) => {
    const [name, other, configuration] = names;
    site.joinLists('mixed', name, other, name);
    const { body, headers } = await sendRequest(await serve('mixed'));
    expect(headers['content-length']).toBe(String(body.length));
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

  it('whose tables are in an initialization section is one MP4', async () => {
    mapTables('aac');
    await expectPackets(await expectFile(await serve('mapped'), ['h264', 'aac']), 'aac');
  });

  it('whose tables are in an initialization section is left to FFmpeg where it is no file', async () => {
    mapTables('fields');
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
    const { status, body } = await sendRequest(url);
    expect([status, JSON.parse(body.toString()).detail]).toEqual([415, 'MP4 cannot hold the codecs of this source.']);
    const converted = await sendRequest(`${url}?format=mp3`);
    expect([converted.status, (await probeBody(converted.body, '.mp3')).codecs]).toEqual([200, ['mp3']]);
  });

  it('with encryption of samples is refused by the name of its method', async () => {
    const [first = '', ...rest] = linesOf('aac');
    texts.set('samples.m3u8', Buffer.from([first, '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="key"', ...rest].join('\n')));
    const { status, body } = await sendRequest(await serve('samples'));
    expect([status, JSON.parse(body.toString()).detail]).toEqual([415, 'Unsupported encryption method SAMPLE-AES.']);
  });

  it.each([
    ['before the tables', (rest: Buffer, next: Buffer) => [rest, next]],
    ['behind the tables', (rest: Buffer, next: Buffer) => [tablesOf(next), rest, next]],
  ])('whose packets are cut between two segments is left to FFmpeg: %s', async (_, join) => {
    const [first, second] = [segmentOf(0), segmentOf(1)];
    texts.set('aac0.ts', first.subarray(0, -CUT_BYTES));
    texts.set('aac1.ts', Buffer.concat(join(first.subarray(-CUT_BYTES), second)));
    await expectStream(await serve('aac'));
  });

  it('breaks off where a segment is damaged', async () => {
    const url = await serve('aac');
    const { body } = await sendRequest(url);
    await site.service?.close();
    const damaged = segmentOf(3);
    // The packets of its second half have no sync bytes.
    damaged.fill(0, Math.ceil(damaged.length / 2 / 188) * 188);
    texts.set('aac3.ts', damaged);
    site.handlers.clear();
    const again = await serve('aac');
    const head = await sendRequest(again, { method: 'HEAD' });
    expect(head.headers['content-length']).toBe(String(body.length));
    await expect(sendRequest(again)).rejects.toThrow();
  });
});

describe('a list of audio', () => {
  it.each([
    ['sound', 'aac'],
    ['layer3', 'mp3'],
    ['adts', 'aac'],
    ['frames', 'mp3'],
  ])('is one file of exact length: %s', async (name, codec) => {
    const body = await expectFile(await serve(name, audioTrack), [codec], '.m4a');
    await expectPackets(body, name, ['a']);
  });

  it('is timed by its ID3 tags', async () => {
    for (const index of SEGMENTS)
      texts.set(`adts${index}.aac`, Buffer.concat([timeTag(2 ** 33 - 90_000 + index * 360_000), adtsOf(index)]));
    const body = await expectFile(await serve('adts', audioTrack), ['aac'], '.m4a');
    const gaps = await withTemporaryFolder(async (place) => {
      const file = join(place, 'body.m4a');
      await writeFile(file, body);
      const times = (await packetsIn(file)).a.map(({ seconds }) => seconds);
      return times.slice(1).map((time, index) => time - (times[index] ?? 0));
    });
    // Frames of 21.3 ms do not fill four seconds: each segment begins at the time of its tag.
    expect(Math.max(...gaps)).toBeLessThan(0.05);
    expect(gaps.reduce((sum, gap) => sum + gap, 0)).toBeGreaterThan(19.9);
  });

  it('in short segments without times lasts as long as all of them', async () => {
    const body = await expectFile(await serve('short', audioTrack), ['aac'], '.m4a');
    expect((await probeBody(body, '.m4a')).durationSeconds).toBeCloseTo(20, 1);
    await expectPackets(body, 'short', ['a']);
  });

  it('of MP3 has no frames that describe the segments', async () => {
    const body = await expectFile(await serve('described', audioTrack), ['mp3'], '.m4a');
    await expectPackets(body, 'frames', ['a']);
  });

  it('has clips', async () => {
    await expectFile(`${await serve('sound', audioTrack)}?format=m4a&start=3&end=9`, ['aac'], '.m4a');
  });
});
