import { describe, expect, it } from 'vitest';
import { mergedFile } from '../../../packages/seekable-media/test/webm-fixture.ts';
import { inspect } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { audioTrack, combinedKey, expectUnsized, refusalOf, trackOf, videoTrack } from '../fixture.ts';
import { useFolderSite } from '../folder-site.ts';
import { AAC, copyOf, file, OPUS, PICTURE, SECONDS, tone, VP9 } from '../matrix/sources.ts';

const LONG_CLUSTERS = ['-cluster_time_limit', '10000', '-cluster_size_limit', '2000000'];

const site = useFolderSite([
  [...PICTURE, ...VP9, '-g', '100', '-cues_to_front', '1', 'video.webm'],
  [...tone(400), ...OPUS, ...LONG_CLUSTERS, '-cues_to_front', '1', 'audio.webm'],
  copyOf('video.webm', 'tail.webm'),
  [...tone(400), ...AAC, '-movflags', '+faststart', 'audio.m4a'],
  copyOf('video.webm', '-live', '1', 'live.webm'),
  [...tone(400), '-c:a', 'libvorbis', 'vorbis.webm'],
]);
const { texts, read } = site;

const fileOf = (path: string, codec = 'opus') =>
  file(`${site.upstream.origin}/${path}`, { video: { codec: 'vp9' }, audio: { codec } });
const servePair = async (video: string, audio: string) => {
  const sides = [
    videoTrack({ ...fileOf(video), audio: null }),
    audioTrack({ ...fileOf(audio, audio.endsWith('m4a') ? 'mp4a.40.2' : 'opus'), video: null }),
  ];
  return `${(await site.serve(sides, { durationSeconds: SECONDS })).url}/api/Stream/Media/${combinedKey()}`;
};

const rangeOf = (range: string | undefined, size: number): readonly [first: number, last: number] => {
  const [, first, last] = /(\d+)-(\d*)/.exec(range ?? '0-') ?? [];
  return [Number(first), last ? Number(last) : size - 1];
};

// What it has in common with other sources is in the matrix (test/stream-service/matrix).
describe('a pair with a file of WebM', () => {
  it('has a length where mkvmerge has written its sound', async () => {
    texts.set('merged.webm', mergedFile(read('audio.webm')));
    const { body } = await expectSeekable(await servePair('video.webm', 'merged.webm'));
    expect((await inspect(body, '.mp4')).complaints).toBe('');
    await site.expectPackets(body, 'video.webm', 'audio.webm');
  });

  it('is known by its header and its cues', async () => {
    const url = await servePair('tail.webm', 'audio.webm');
    const { headers } = await sendRequest(url, { method: 'HEAD' });
    expect(Number(headers['content-length'])).toBeGreaterThan(0);
    expect(site.asked.toSorted()).toEqual(['audio.webm', 'tail.webm', 'tail.webm']);
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
    const service = await site.serve([trackOf('f', fileOf('live.webm'))], { durationSeconds: SECONDS });
    expect((await sendRequest(service.media('f'))).body.equals(read('live.webm'))).toBe(true);
    const reason = 'A file that is sent as it is cannot be clipped. Use MP3.';
    expect(await refusalOf(`${service.media('f')}?start=5`)).toEqual([400, reason]);
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
    await expectUnsized(await edit(file, change), { method: 'HEAD' });
  });

  it('breaks at a later cue that names no cluster, and is muxed then', async () => {
    const url = await edit('video.webm', moveCue(3));
    await expect(sendRequest(url)).rejects.toThrow();
    const { body } = await expectUnsized(url);
    await site.expectPackets(body, 'video.webm', undefined, { sides: ['v'] });
  });
});
