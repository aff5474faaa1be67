import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { FillingBuffer, type FragmentStore } from '@reelay/seekable-media/reading';
import type { Source } from '@reelay/source';
import { describe, expect, it } from 'vitest';
import { readLayoutBytes } from '../../../../packages/seekable-media/src/reading/layout-bytes.ts';
import type { OpenSource, SizedFile } from '../../../../stream-service/source/open-source.ts';
import { createFaultHandler } from '../../../origin/faults.ts';
import { newestFfmpeg } from '../../../support/installed-tools.ts';
import { probe } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { expectSeekable } from '../../../support/seekable.ts';
import { audioTrack, combinedKey, mediaKey, resourceOf, startService, trackOf, videoTrack } from '../../fixture.ts';
import { type Handler, startUpstream } from '../../source/upstream.ts';
import { layOut, openOf, read } from './layouts-in-memory.ts';
import { decodedPackets, packetDigests, usePairMedia } from './pair-fixture.ts';

const media = await usePairMedia();

const resource = resourceOf([videoTrack({ sizeBytes: 1000 }), audioTrack({ sizeBytes: 200 })], {
  durationSeconds: 300,
});

async function start(video: Source | OpenSource, audio: Source | OpenSource) {
  const service = await startService(resource, { video, audio }, { peekSource: undefined });
  return {
    sizes: service.sizes,
    media: `${service.url}/api/Stream/Media/${combinedKey()}`,
    combined: `${service.url}/api/Stream/Combined/${combinedKey()}`,
  };
}

const startFiles = async (video = 'indexed.mp4', audio = 'indexed.m4a') => {
  const sources = { video: await media.load(video), audio: await media.load(audio) };
  return { ...(await start(sources.video, sources.audio)), ...sources };
};

describe('Media with the key of a pair', () => {
  it.each([
    ['indexed.mp4', 'indexed.m4a', 300],
    ['absolute.mp4', 'indexed.m4a', 300],
    ['long-video.mp4', 'long-audio.m4a', 300],
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
    ['listed.mp4', 'indexed.m4a', 300],
    ['ladder/both-720.mp4', 'ladder/both-360.mp4', 8],
  ])('sends every packet of %s and %s as one file of known length', async (video, audio, seconds) => {
    const { headers, body } = await sendRequest((await startFiles(video, audio)).media);
    expect(headers['content-length']).toBe(String(body.length));
    const file = join(media.folder, 'ours.mp4');
    await writeFile(file, body);
    const { packets: got, complaints } = await decodedPackets(file);
    expect(complaints).toBe('');
    expect(await packetDigests(['-i', file, '-map', '0'], await newestFfmpeg())).toEqual(got);
    const wanted = await packetDigests([
      ...['-i', media.pathOf(video), '-i', media.pathOf(audio)],
      ...['-map', '0:v:0', '-map', '1:a:0'],
    ]);
    expect(wanted[0]?.length).toBeGreaterThan(100);
    expect(got).toEqual(wanted);
    expect((await probe(file)).durationSeconds).toBeCloseTo(seconds, 0);
  });

  it.each([
    ['indexed.mp4', 'indexed.m4a'],
    ['long-video.mp4', 'long-audio.m4a'],
    ['long-video.mp4', 'indexed.m4a'],
  ])('assembles the whole file of %s and %s from ranges of any size', async (video, audio) => {
    const { body, headers } = await expectSeekable((await startFiles(video, audio)).media);
    expect([body.length > 1_000_000, headers['content-type']]).toEqual([true, 'video/mp4']);
  });

  it('stores its size with the resource', async () => {
    const { media: url, sizes } = await startFiles();
    await sendRequest(url, { headers: { range: 'bytes=0-9' } });
    const size = Number((await sendRequest(url, { method: 'HEAD' })).headers['content-length']);
    expect([...sizes].map(([, bytes]) => bytes)).toEqual([size]);
  });

  it('reads the headers once, and then only the fragments of a range', async () => {
    const { media: url, video, audio } = await startFiles();
    const { headers } = await sendRequest(url, { headers: { range: 'bytes=0-9' } });
    const size = Number(/\/(\d+)/.exec(headers['content-range'] ?? '')?.[1]);
    const readsBefore = [video.reads.length, audio.reads.length];
    expect(Math.max(...readsBefore)).toBeLessThanOrEqual(2);
    for (let index = 1; index <= 20; index += 1) {
      await sendRequest(url, {
        headers: { range: `bytes=${Math.floor((size * index) / 25)}-${Math.floor((size * index) / 25) + 99}` },
      });
    }
    const reads = [...video.reads.slice(1), ...audio.reads.slice(1)];
    expect(video.reads.length + audio.reads.length).toBeLessThanOrEqual(60);
    for (const { first } of reads) expect(first).toBeGreaterThan(0);
  });

  it.each([
    ['indexed.mp4', 'indexed.m4a'],
    ['long-video.mp4', 'long-audio.m4a'],
  ])('reads at most one place of %s and %s more than it sends', async (video, audio) => {
    const started = await startFiles(video, audio);
    const { media: url } = started;
    const { headers } = await sendRequest(url, { headers: { range: 'bytes=0-9' } });
    const size = Number(/\/(\d+)/.exec(headers['content-range'] ?? '')?.[1]);
    const readBytes = () =>
      [...started.video.reads, ...started.audio.reads].reduce((sum, { first, last = 0 }) => sum + last - first + 1, 0);
    for (const sent of [100, 10_000, 300_000]) {
      for (let part = 1; part < 12; part += 1) {
        const first = Math.floor((size * part) / 12);
        const before = readBytes();
        await sendRequest(url, { headers: { range: `bytes=${first}-${first + sent - 1}` } });
        // A range may begin and end within a place: 1 s of video at 160 kbit/s and the fragments of its audio, 5 s at 64 kbit/s.
        expect(readBytes() - before - sent).toBeLessThan(200_000);
      }
    }
  });

  it('reads no more than the files for a player that opens a connection for each part of them', async () => {
    const { media: url, video, audio } = await startFiles('coarse.mp4', 'coarse.m4a');
    const { headers } = await sendRequest(url, { method: 'HEAD' });
    const size = Number(headers['content-length']);
    const bytes = 50_000;
    for (let first = 0; first < size; first += bytes)
      await sendRequest(url, { headers: { range: `bytes=${first}-${Math.min(first + bytes, size) - 1}` } });
    for (const { reads, size: fileBytes = 0 } of [video, audio])
      expect(reads.reduce((sum, { sentBytes }) => sum + sentBytes, 0)).toBeLessThanOrEqual(fileBytes * 1.02);
  });

  it('goes on with a place where a reader that has ended left it', async () => {
    const sources = [await media.load('coarse.mp4'), await media.load('coarse.m4a')];
    const [video] = sources;
    const files = sources.map((source): SizedFile => Object.assign(source, { size: source.size ?? 0 }));
    const layout = await layOut(files);
    const kept = new Map<string, FillingBuffer>();
    const store: FragmentStore = {
      get: (source, { index, bytes }) => {
        const name = `${source} ${index}`;
        return kept.get(name) ?? kept.set(name, new FillingBuffer(bytes)).get(name) ?? new FillingBuffer(bytes);
      },
      has: (source, { index }) => kept.get(`${source} ${index}`)?.complete !== undefined,
      use: async () => undefined,
      note: () => undefined,
    };
    const openSource = openOf(files);
    const first = layout.mediaStart;
    const options = { layout, first, last: first + 500_000, openSource, store };
    let taken = 0;
    for await (const chunk of readLayoutBytes(options)) {
      taken += chunk.length;
      if (taken > 20_000) break;
    }
    const start = video?.reads.at(-1)?.first ?? 0;
    video?.reads.splice(0);
    const body = await buffer(readLayoutBytes(options));
    expect(video?.reads.at(0)?.first).toBeGreaterThan(start + 15_000);
    expect(body.equals(await read(layout, files, first, first + 500_000))).toBe(true);
  });

  it.each([
    ['no index', 'unindexed.mp4'],
    ['an index that ends before the file', 'chained.mp4'],
    ['durations that differ by minutes', 'bframes.mp4'],
    ['fragments of several tracks', 'two-tracks.mp4'],
  ])('muxes from the beginning with %s', async (_name, video) => {
    const { media: url } = await startFiles(video);
    const { status, headers, body } = await sendRequest(url, { headers: { range: 'bytes=10-19' } });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'accept-ranges': 'none', 'cache-control': 'no-store' });
    expect(headers).not.toHaveProperty('content-length');
    const file = join(media.folder, 'muxed.mp4');
    await writeFile(file, body);
    const { packets, complaints } = await decodedPackets(file);
    expect(complaints).toBe('');
    const inputs = ['-i', media.pathOf(video), '-i', media.pathOf('indexed.m4a')];
    expect(packets).toEqual(await packetDigests([...inputs, '-map', '0:v:0', '-map', '1:a:0']));
  });
});

describe('Combined with a layout', () => {
  it('sends the same bytes from the beginning and names the file with ranges', async () => {
    const { media: url, combined } = await startFiles();
    const { body: whole } = await sendRequest(url);
    const { status, headers, body } = await sendRequest(combined, { headers: { range: 'bytes=10-19' } });
    expect(status).toBe(200);
    expect(body.equals(whole)).toBe(true);
    expect(headers).toMatchObject({
      'content-length': String(whole.length),
      'content-location': `/api/Stream/Media/${combinedKey()}`,
      'accept-ranges': 'none',
      'cache-control': 'no-store',
    });
    expect(headers).not.toHaveProperty('etag');
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
