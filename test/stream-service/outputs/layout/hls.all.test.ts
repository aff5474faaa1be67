import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPlaylist, type Range } from '../../../support/hls-checker.ts';
import { complaintsOf, probe } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { expectSeekable } from '../../../support/seekable.ts';
import { startMedia } from './clip-fixture.ts';
import { decodedPackets, packetDigests, usePairMedia } from './pair-fixture.ts';

const media = await usePairMedia();

type Files = [string] | [string, string];
async function start(...files: Files) {
  const started = await startMedia(media, files);
  return { ...started, base: `${started.url.replace('/Media/', '/Hls/')}/` };
}

const load = async (url: string) => {
  const { status, headers, body } = await sendRequest(url);
  expect([status, status === 200 ? '' : body.toString()]).toEqual([200, '']);
  expect(headers['content-type']).toBe('application/vnd.apple.mpegurl');
  expect(headers).not.toHaveProperty('content-disposition');
  return checkPlaylist(body.toString());
};

async function readRange(url: string, { first, bytes }: Range): Promise<Buffer> {
  const { status, body } = await sendRequest(url, { headers: { range: `bytes=${first}-${first + bytes - 1}` } });
  expect([status, body.length]).toEqual([206, bytes]);
  return body;
}

const CASES: readonly (readonly [Files, Record<string, string>])[] = [
  [['indexed.mp4', 'indexed.m4a'], { CODECS: '"avc1.42c00a,mp4a.40.2"', RESOLUTION: '160x90', 'FRAME-RATE': '10.000' }],
  [['long-video.mp4', 'long-audio.m4a'], { RESOLUTION: '160x90', 'FRAME-RATE': '10.000' }],
  [['bframes.mp4', 'short-indexed.m4a'], { RESOLUTION: '1280x720', 'FRAME-RATE': '25.000' }],
  [['hevc.mp4', 'ac3.mp4'], { CODECS: expect.stringMatching(/^"hev1\.1\.6\.L\d+(\.[\dA-F]+)+,ac-3"$/) }],
  [['vp9.mp4', 'opus.mp4'], { CODECS: expect.stringMatching(/^"vp09\.00\.\d\d\.08,Opus"$/) }],
  [['ladder/av1-180.mp4', 'flac.mp4'], { CODECS: expect.stringMatching(/^"av01\.0\.\d\dM\.08,fLaC"$/) }],
  [['ladder/both-360.mp4'], { RESOLUTION: '640x360', 'FRAME-RATE': '25.000' }],
  [['muxed-indexed.mp4'], { CODECS: '"avc1.42c00a,mp4a.40.2"', RESOLUTION: '160x90' }],
  [['ladder/aac-128.m4a'], { CODECS: '"mp4a.40.2"' }],
  [['silent.mp4'], { CODECS: expect.stringMatching(/^"avc1\.\w{6}"$/) }],
  [['absolute.mp4', 'indexed.m4a'], { RESOLUTION: '160x90' }],
];

describe('the HLS presentation', () => {
  it.each(CASES)('of %j has playlists after RFC 8216 and every packet of the sources', async (files, variant) => {
    const { base } = await start(...files);
    const master = await load(`${base}master.m3u8`);
    expect(master.variants).toHaveLength(1);
    expect(master.variants[0]).toMatchObject(variant);
    expect(master.version).toBeGreaterThanOrEqual(6);
    expect(master.isIndependent).toBe(true);

    const uris = [master.variants[0]?.uri ?? '', ...master.media.map(({ URI = '' }) => URI.slice(1, -1))];
    const digests: string[][] = [];
    let rate = 0;
    for (const [index, uri] of uris.entries()) {
      const { durationSeconds } = await probe(media.pathOf(files[index] ?? files[0]));
      const url = new URL(uri, base);
      const playlist = await load(url.href);
      const total = playlist.segments.reduce((sum, segment) => sum + segment.seconds, 0);
      expect(Math.abs(total - durationSeconds)).toBeLessThan(0.5);
      const { map, segments } = playlist;
      if (!map) throw new Error('No map');
      const parts = [await readRange(new URL(map.uri, url).href, map.range)];
      for (const { uri: part, range } of segments) parts.push(await readRange(new URL(part, url).href, range));
      rate += Math.max(
        ...segments
          .filter((each) => each.seconds >= 0.5 * playlist.targetSeconds)
          .map((each) => (each.range.bytes * 8) / each.seconds),
        0,
      );
      const file = join(media.folder, 'stream.mp4');
      await writeFile(file, Buffer.concat(parts));
      const { packets, complaints } = await decodedPackets(file);
      expect(complaints).toBe('');
      digests.push(...Object.values(packets));
      // A segment begins with a sync sample: it decodes without those before it.
      await writeFile(file, Buffer.concat([parts[0] as Buffer, parts.at(-1) as Buffer]));
      expect(await complaintsOf(file)).toBe('');
    }
    expect(rate).toBeLessThanOrEqual(Number(master.variants[0]?.BANDWIDTH) + 1);

    const inputs = files.flatMap((file) => ['-i', media.pathOf(file)]);
    const maps = files.length > 1 ? ['-map', '0:v:0', '-map', '1:a:0'] : ['-map', '0'];
    const wanted = Object.values(await packetDigests([...inputs, ...maps]));
    const sizes = (all: readonly string[][]) =>
      all.map((each) => each.map((line) => line.split(' ').slice(2).join(' ')));
    expect(sizes(digests)).toEqual(sizes(wanted));
  });

  it('plays in FFmpeg from its master playlist, audio in step with the video', async () => {
    const { base } = await start('bframes.mp4', 'ladder/aac-128.m4a');
    const got = await packetDigests(['-i', `${base}master.m3u8`, '-map', '0:v', '-map', '0:a']);
    const wanted = await packetDigests([
      ...['-i', media.pathOf('bframes.mp4'), '-i', media.pathOf('ladder/aac-128.m4a')],
      ...['-map', '0:v', '-map', '1:a'],
    ]);
    expect(got).toEqual(wanted);
  });

  it('answers HEAD and ranges with a strong ETag, and allows other origins to read', async () => {
    const { base } = await start('indexed.mp4', 'indexed.m4a');
    for (const name of ['master.m3u8', 'video.m3u8', 'AUDIO.m3u8', 'video.mp4']) await expectSeekable(base + name);
  });

  it('refuses byte ranges of another version of the media', async () => {
    const { base } = await start('indexed.mp4', 'indexed.m4a');
    const playlist = await load(`${base}video.m3u8`);
    const current = playlist.segments[0]?.uri ?? '';
    expect((await sendRequest(base + current, { headers: { range: 'bytes=0-9' } })).status).toBe(206);
    const other = current.replace(/entity=.{3}/, 'entity=abc');
    expect((await sendRequest(base + other, { headers: { range: 'bytes=0-9' } })).status).toBe(404);
  });

  it.each([
    [['unindexed.mp4', 'indexed.m4a'], 'master.m3u8', 415, /fragments without an index/],
    [['unindexed.mp4'], 'both.mp4', 415, /fragments without an index/],
    [['clip.webm'], 'master.m3u8', 415, /./],
    [['silent.mp4'], 'audio.m3u8', 404, undefined],
    [['silent.mp4'], 'other.m3u8', 404, undefined],
  ] as const)('of %j answers %s with %d', async (files, name, status, detail) => {
    const { base } = await start(...(files as unknown as Files));
    const answer = await sendRequest(base + name);
    expect(answer.status).toBe(status);
    const problem = JSON.parse(answer.body.toString());
    if (detail) expect(problem.detail).toMatch(detail);
    expect((await sendRequest(base + name, { method: 'HEAD' })).status).toBe(status);
  });
});
