import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createFaultHandler } from '../../../origin/faults.ts';
import { sendRequest } from '../../../support/request.ts';
import { expectSeekable } from '../../../support/seekable.ts';
import { audioTrack, combinedKey, mediaKey, resourceOf, startService, trackOf, videoTrack } from '../../fixture.ts';
import { type Handler, startUpstream } from '../../source/upstream.ts';
import { usePairMedia } from './pair-fixture.ts';

const media = await usePairMedia();

describe('Media with the key of a pair', () => {
  it.each([
    ['absolute.mp4', 'indexed.m4a', 300],
    ['indexed.mp4', 'long-audio.m4a', 300],
    ['bframes.mp4', 'short-indexed.m4a', 8],
    ['bframes.mp4', 'ladder/aac-128.m4a', 8],
    ['clip-tail.mp4', 'clip.mp4', 6],
    ['ladder/av1-180.mp4', 'flac.mp4', 8],
    ['vp9.mp4', 'opus.mp4', 8],
    ['hevc.mp4', 'ac3.mp4', 8],
    ['chained-short.mp4', 'chained-short.m4a', 8],
    ['partial-index.mp4', 'short-indexed.m4a', 8],
    ['unindexed-short.mp4', 'ladder/aac-128.m4a', 8],
    ['listed.mp4', 'listed.m4a', 300],
    ['ladder/both-720.mp4', 'ladder/both-360.mp4', 8],
  ])('sends every packet of %s and %s as one file of known length', async (video, audio, seconds) => {
    const { url, sizes } = await media.start([video, audio]);
    const { headers, body } = await expectSeekable(url);
    expect(headers['content-type']).toBe('video/mp4');
    expect([...sizes].map(([, bytes]) => bytes)).toEqual([body.length]);
    expect((await media.expectPackets(body, [video, audio])).durationSeconds).toBeCloseTo(seconds, 0);
  });

  it.each([
    ['indexed.mp4', 'indexed.m4a'],
    ['long-video.mp4', 'long-audio.m4a'],
  ])('reads the headers of %s and %s once, and then at most one place more than it sends', async (video, audio) => {
    const { url, sources } = await media.start([video, audio]);
    const read = async (first: number, bytes: number) =>
      (await sendRequest(url, { headers: { range: `bytes=${first}-${first + bytes - 1}` } })).headers;
    const size = Number((await read(0, 10))['content-range']?.split('/')[1]);
    expect(size).toBeGreaterThan(300_000);
    for (const { reads } of sources) expect(reads.length).toBeLessThanOrEqual(2);
    const readBytes = () =>
      sources.flatMap(({ reads }) => reads).reduce((sum, { first, last = 0 }) => sum + last - first + 1, 0);
    for (const sent of [100, 10_000, 300_000])
      for (let part = 1; part < 12; part += 1) {
        const before = readBytes();
        await read(Math.floor((size * part) / 12), sent);
        // A range may begin and end within a place: 1 s of video at 160 kbit/s and the fragments of its audio, 5 s at 64 kbit/s.
        expect(readBytes() - before - sent).toBeLessThan(200_000);
      }
    for (const { reads } of sources) for (const { first } of reads.slice(1)) expect(first).toBeGreaterThan(0);
  });

  it.each([
    ['no index', 'unindexed.mp4'],
    ['an index that ends before the file', 'chained.mp4'],
    ['durations that differ by minutes', 'bframes.mp4'],
    ['fragments of several tracks', 'two-tracks.mp4'],
  ])('muxes from the beginning with %s', async (_name, video) => {
    const { url } = await media.start([video, 'indexed.m4a']);
    const { status, headers, body } = await sendRequest(url, { headers: { range: 'bytes=10-19' } });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'accept-ranges': 'none', 'cache-control': 'no-store' });
    expect(headers).not.toHaveProperty('content-length');
    await media.expectPackets(body, [video, 'indexed.m4a']);
  });
});

/** Without the list of fragments at the end of a file, whose last four bytes are its length. */
const withoutTrailer = (bytes: Buffer) =>
  bytes.includes('mfra') ? bytes.subarray(0, bytes.length - bytes.readUInt32BE(bytes.length - 4)) : bytes;

describe('a cold layout', () => {
  /** The ranges that are requested of each file, for all of a stream. */
  const rangesOf = async (files: readonly string[], path: string) => {
    const upstream = await startUpstream();
    const handlers = new Map<string, Handler>();
    for (const name of files)
      handlers.set(`/${name}`, createFaultHandler({ bytes: withoutTrailer(await readFile(media.pathOf(name))) }));
    const ranges = new Map<string, string[]>(files.map((name) => [name, []]));
    upstream.use((request, response) => {
      ranges.get(request.url?.slice(1) ?? '')?.push(request.headers.range ?? '');
      handlers.get(request.url ?? '')?.(request, response);
    });
    const at = (name: string) => ({ url: `${upstream.origin}/${name}` });
    const [video = '', audio] = files;
    const tracks = audio ? [videoTrack(at(video)), audioTrack(at(audio))] : [trackOf('video', at(video))];
    const openSource = upstream.reader();
    const { url } = await startService(resourceOf(tracks), { video: openSource, audio: openSource });
    const { status } = await sendRequest(`${url}/api/Stream/${path}`);
    expect(status).toBe(200);
    return [...ranges.values()].map((each) =>
      each.map((range) => /(\d+)-(\d*)/.exec(range)?.slice(1).map(Number) ?? []),
    );
  };

  it.each([
    ['Combined', ['indexed.mp4', 'indexed.m4a'], `Combined/${combinedKey()}`],
    ['Combined of files without fragments', ['long-video.mp4', 'long-audio.m4a'], `Combined/${combinedKey()}`],
    ['Media', ['indexed.mp4', 'long-audio.m4a'], `Media/${combinedKey()}`],
    ['Media as M4A', ['ladder/both-720.mp4'], `Media/${mediaKey('video')}?format=m4a`],
  ])('of %s opens each source once, and requests no byte of it twice', async (_, files, path) => {
    for (const ranges of await rangesOf(files, path)) {
      expect(ranges[0]?.[0]).toBe(0);
      for (const [index, [first]] of ranges.slice(1).entries()) expect(first).toBe((ranges[index]?.[1] ?? 0) + 1);
    }
  });
});
