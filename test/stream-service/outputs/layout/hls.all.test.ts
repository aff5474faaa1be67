import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complaintsOf, probe } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { expectSeekable } from '../../../support/seekable.ts';
import { type Files, startMedia } from './clip-fixture.ts';
import { readPlaylist, readTrack, tracksOf } from './hls-fixture.ts';
import { decodedPackets, packetDigests, usePairMedia } from './pair-fixture.ts';

const media = await usePairMedia();

async function start(...files: Files) {
  const started = await startMedia(media, files);
  return { ...started, base: `${started.url.replace('/Media/', '/Hls/')}/` };
}

const CASES: readonly (readonly [Files, Record<string, string>])[] = [
  [['indexed.mp4', 'indexed.m4a'], { CODECS: '"avc1.42c00a,mp4a.40.2"', RESOLUTION: '160x90', 'FRAME-RATE': '10.000' }],
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
    const master = await readPlaylist(`${base}master.m3u8`);
    const { variants, urls } = await tracksOf(`${base}master.m3u8`);
    expect(variants).toEqual([expect.objectContaining(variant)]);
    expect(master.version).toBeGreaterThanOrEqual(6);
    expect(master.isIndependent).toBe(true);
    await expectSeekable(`${base}master.m3u8`);

    const digests: string[][] = [];
    let rate = 0;
    for (const [index, url] of urls.entries()) {
      await expectSeekable(url);
      const { segments, targetSeconds, parts } = await readTrack(url);
      const { durationSeconds } = await probe(media.pathOf(files[index] ?? files[0]));
      const total = segments.reduce((sum, segment) => sum + segment.seconds, 0);
      expect(Math.abs(total - durationSeconds)).toBeLessThan(0.5);
      const whole = segments.filter(({ seconds }) => seconds >= 0.5 * targetSeconds);
      rate += Math.max(...whole.map(({ range, seconds }) => (range.bytes * 8) / seconds), 0);
      const file = join(media.folder, 'stream.mp4');
      await writeFile(file, Buffer.concat(parts));
      const { packets, complaints } = await decodedPackets(file);
      expect(complaints).toBe('');
      digests.push(...Object.values(packets));
      // A segment begins with a sync sample: it decodes without those before it.
      await writeFile(file, Buffer.concat([parts[0] as Buffer, parts.at(-1) as Buffer]));
      expect(await complaintsOf(file)).toBe('');
    }
    expect(rate).toBeLessThanOrEqual(Number(variants[0]?.BANDWIDTH) + 1);

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

  it('refuses byte ranges of another version of the media', async () => {
    const { base } = await start('indexed.mp4', 'indexed.m4a');
    await expectSeekable(`${base}AUDIO.m3u8`);
    const current = (await readPlaylist(`${base}video.m3u8`)).segments[0]?.uri ?? '';
    await expectSeekable(base + current);
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
