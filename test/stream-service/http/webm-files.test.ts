import { describe, expect, it } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { mergedFile } from '../../../packages/seekable-media/test/webm-fixture.ts';
import { inspect, packetsOf } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectRanges, expectSeekable } from '../../support/seekable.ts';
import { audioTrack, combinedKey, mediaKey, videoTrack } from '../fixture.ts';
import { useFolderSite } from '../folder-site.ts';

const SECONDS = 20;
const PICTURE = ['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=25:d=${SECONDS}`];
const TONE = ['-f', 'lavfi', '-i', `sine=400:r=48000:d=${SECONDS}`];
const VP9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '200k', '-g', '100'];
const OPUS = ['-c:a', 'libopus', '-b:a', '64k'];
const LONG_CLUSTERS = ['-cluster_time_limit', '10000', '-cluster_size_limit', '2000000'];

const site = useFolderSite([
  [...PICTURE, ...VP9, '-cues_to_front', '1', 'video.webm'],
  [...TONE, ...OPUS, ...LONG_CLUSTERS, '-cues_to_front', '1', 'audio.webm'],
  ['-i', 'video.webm', '-c', 'copy', 'tail.webm'],
  [...TONE, '-c:a', 'aac', '-movflags', '+faststart', 'audio.m4a'],
  ['-i', 'video.webm', '-c', 'copy', '-live', '1', 'live.webm'],
  [...TONE, '-c:a', 'libvorbis', 'vorbis.webm'],
]);
const { texts, pathOf: made, read } = site;

const fileOf = (path: string): Partial<Track> => {
  const container = path.split('.')[1] ?? '';
  const codec = { 'vorbis.webm': 'vorbis', 'audio.webm': 'opus', 'merged.webm': 'opus', 'audio.m4a': 'mp4a.40.2' }[
    path
  ];
  return {
    url: `${site.upstream.origin}/${path}`,
    container,
    ...(codec ? { audio: { codec } } : { video: { codec: 'vp9' } }),
  };
};

/** Another process, unless the service runs. */
const serve = async (tracks: readonly Track[]) =>
  `${(await site.serve(tracks, { durationSeconds: SECONDS })).url}/api/Stream`;

const rangeOf = (range: string | undefined, size: number): readonly [first: number, last: number] => {
  const [, first, last] = /(\d+)-(\d*)/.exec(range ?? '0-') ?? [];
  return [Number(first), last ? Number(last) : size - 1];
};

const servePair = async (video: string, audio: string) =>
  `${await serve([videoTrack(fileOf(video)), audioTrack(fileOf(audio))])}/Media/${combinedKey()}`;
const serveFile = async (path: string) =>
  `${await serve([videoTrack({ ...fileOf(path), audio: { codec: 'opus' } })])}/Media/${mediaKey('video')}`;

// What it has in common with other sources is in the matrix (test/stream-service/matrix).
describe('a pair with a file of WebM', () => {
  it('has a length where mkvmerge has written its sound', async () => {
    texts.set('merged.webm', mergedFile(read('audio.webm')));
    const { body } = await expectSeekable(await servePair('video.webm', 'merged.webm'));
    expect((await inspect(body, '.mp4')).complaints).toBe('');
    expect(await packetsOf(body, 'v')).toEqual(await packetsOf(made('video.webm'), 'v'));
    const inTens = (packets: readonly string[]) =>
      packets.map((packet) => packet.replace(/^\d+/, (ms) => String(Math.round(Number(ms) / 10))));
    // The units of either file differ by less than a millisecond.
    expect(inTens(await packetsOf(body, 'a'))).toEqual(inTens(await packetsOf(made('audio.webm'), 'a')));
  });

  it('is read by any process with the same bytes, and known by its header and its cues', async () => {
    const whole = await sendRequest(await servePair('tail.webm', 'audio.webm'));
    await site.service?.close();
    site.requests.length = 0;
    const url = await servePair('tail.webm', 'audio.webm');
    const { headers: head } = await sendRequest(url, { method: 'HEAD' });
    expect([head['content-length'], head.etag]).toEqual([String(whole.body.length), whole.headers.etag]);
    expect(site.asked.toSorted()).toEqual(['audio.webm', 'tail.webm', 'tail.webm']);
    await expectRanges(url, whole);
  });

  it('requests no byte of its sources twice for a whole read', async () => {
    const url = await servePair('video.webm', 'audio.webm');
    await sendRequest(url, { method: 'HEAD' });
    site.requests.length = 0;
    await sendRequest(url);
    for (const path of ['video.webm', 'audio.webm']) {
      const ranges = site.requests.flatMap((sent) =>
        sent.path === path ? [rangeOf(sent.range, read(path).length)] : [],
      );
      const covered = ranges.toSorted(([a], [b]) => a - b);
      expect(covered.filter(([first], index) => first <= (covered[index - 1]?.[1] ?? -1))).toEqual([]);
    }
  });

  it('reads at most one place and its sound for a short range', async () => {
    const { body } = await sendRequest(await servePair('video.webm', 'audio.webm'));
    await site.service?.close();
    site.requests.length = 0;
    const url = await servePair('video.webm', 'audio.webm');
    const first = Math.round(body.length * 0.7);
    await sendRequest(url, { headers: { range: `bytes=${first}-${first + 99}` } });
    const { requests } = site;
    const isHeader = ({ range = '' }: (typeof requests)[number]) => /=0-/.test(range);
    for (const some of [requests.filter(isHeader), requests.filter((request) => !isHeader(request))])
      expect(some.map(({ path }) => path).toSorted()).toEqual(['audio.webm', 'video.webm']);
    const bytes = requests.map(({ path, range }) => {
      const [from, to] = rangeOf(range, read(path).length);
      return to - from + 1;
    });
    // Four seconds of video, and ten of audio, of twenty.
    expect(Math.max(...bytes)).toBeLessThan(body.length / 3);
  });
});

describe('a file of WebM', () => {
  it('is sent as it is, and says why it cannot be clipped where it has no cues', async () => {
    const url = await serveFile('live.webm');
    expect((await sendRequest(url)).body.equals(read('live.webm'))).toBe(true);
    const { status, body } = await sendRequest(`${url}?start=5`);
    expect([status, JSON.parse(body.toString()).detail]).toEqual([
      400,
      'A file that is sent as it is cannot be clipped. Use MP3.',
    ]);
  });
});

describe('a pair with a file of WebM that does not say where its media is', () => {
  const CLUSTER = Buffer.from('1f43b675', 'hex');
  /** Each cue is followed by its time, its track, and the position of its cluster. */
  const CUE_POSITION = 0xf1;
  const edit = (name: string, change: (bytes: Buffer) => Buffer | undefined) => {
    const bytes = Buffer.from(read(name));
    texts.set('changed.webm', change(bytes) ?? bytes);
    return servePair('changed.webm', 'audio.m4a');
  };
  /** Behind a cluster that begins with time 0. */
  const firstFrame = (bytes: Buffer) => bytes.indexOf(Buffer.from('e78100a3', 'hex'), bytes.indexOf(CLUSTER)) + 3;
  const sizeBytes = (bytes: Buffer, at: number) => Math.clz32(bytes[at] ?? 0) - 23;
  /** Adds one to where the cues say that a cluster is. */
  const moveCue = (number: number) => (bytes: Buffer) => {
    let at = bytes.indexOf(Buffer.from('1c53bb6b', 'hex'));
    for (let cue = 0; cue <= number; cue += 1) at = bytes.indexOf(CUE_POSITION, bytes.indexOf(0xb7, at + 1));
    const last = at + (bytes.readUInt8(at + 1) & 0x7f) + 1;
    bytes.writeUInt8(bytes.readUInt8(last) ^ 1, last);
    return undefined;
  };

  it.each<readonly [string, string, (bytes: Buffer) => Buffer | undefined]>([
    ['no cues', 'live.webm', () => undefined],
    ['Vorbis', 'vorbis.webm', () => undefined],
    ['an end that is missing', 'video.webm', (bytes) => bytes.subarray(0, bytes.length - 1000)],
    ['a cue beside the first cluster', 'video.webm', moveCue(0)],
    [
      'clusters of unknown size',
      'video.webm',
      (bytes) => {
        const at = bytes.indexOf(CLUSTER) + 4;
        const length = sizeBytes(bytes, at);
        bytes.fill(0xff, at, at + length).writeUInt8(0xff >> (length - 1), at);
        return undefined;
      },
    ],
    [
      'frames beyond their block',
      'video.webm',
      (bytes) => {
        const at = firstFrame(bytes) + 1;
        const flags = at + sizeBytes(bytes, at) + 3;
        bytes.writeUInt8(bytes.readUInt8(flags) | 0x06, flags);
        return undefined;
      },
    ],
    [
      'a size beyond the file',
      'video.webm',
      (bytes) => {
        const at = bytes.indexOf(Buffer.from('18538067', 'hex')) + 4;
        bytes.writeUInt8(bytes.readUInt8(at + 4) | 0x7f, at + 4);
        return undefined;
      },
    ],
  ])('has no length with %s', async (_name, file, change) => {
    const { status, headers } = await sendRequest(await edit(file, change), { method: 'HEAD' });
    expect([status, headers['accept-ranges'], headers['content-length']]).toEqual([200, 'none', undefined]);
  });

  it('breaks at a later cue that names no cluster, and is muxed then', async () => {
    const url = await edit('video.webm', moveCue(3));
    await expect(sendRequest(url)).rejects.toThrow();
    const { status, headers, body } = await sendRequest(url);
    expect([status, headers['accept-ranges'], headers['content-length']]).toEqual([200, 'none', undefined]);
    expect(await packetsOf(body, 'v')).toEqual(await packetsOf(made('video.webm'), 'v'));
  });
});
