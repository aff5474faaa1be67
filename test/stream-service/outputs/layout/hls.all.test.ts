import { describe, expect, it } from 'vitest';
import { itInChromium } from '../../../support/chromium.ts';
import { expectPackets } from '../../../support/expect-packets.ts';
import { inspect, probe } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { expectSeekable } from '../../../support/seekable.ts';
import { readPlaylist, readTrack, tracksOf } from './hls-fixture.ts';
import { usePairMedia } from './pair-fixture.ts';
import { runWithPlayer } from './player.ts';

const media = await usePairMedia();

const start = async (...files: readonly string[]) => `${(await media.start(files)).urlOf('Hls')}/`;

const CASES: readonly (readonly [readonly [string, ...string[]], Record<string, string>])[] = [
  [['indexed.mp4', 'indexed.m4a'], { CODECS: '"avc1.42c00a,mp4a.40.2"', RESOLUTION: '160x90', 'FRAME-RATE': '10.000' }],
  [['bframes.mp4', 'short-indexed.m4a'], { RESOLUTION: '1280x720', 'FRAME-RATE': '25.000' }],
  [['hevc.mp4', 'ac3.mp4'], { CODECS: expect.stringMatching(/^"hvc1\.1\.6\.L\d+(\.[\dA-F]+)+,ac-3"$/) }],
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
    const base = await start(...files);
    const master = await readPlaylist(`${base}master.m3u8`);
    const { variants, urls } = await tracksOf(`${base}master.m3u8`);
    expect(variants).toEqual([expect.objectContaining(variant)]);
    expect(master.version).toBeGreaterThanOrEqual(6);
    expect(master.isIndependent).toBe(true);
    await expectSeekable(`${base}master.m3u8`);

    let rate = 0;
    for (const [index, url] of urls.entries()) {
      await expectSeekable(url);
      const { segments, targetSeconds, parts } = await readTrack(url);
      const file = files[index] ?? files[0];
      const { durationSeconds } = await probe(media.pathOf(file));
      const total = segments.reduce((sum, segment) => sum + segment.seconds, 0);
      expect(Math.abs(total - durationSeconds)).toBeLessThan(0.5);
      const whole = segments.filter(({ seconds }) => seconds >= 0.5 * targetSeconds);
      rate += Math.max(...whole.map(({ range, seconds }) => (range.bytes * 8) / seconds), 0);
      const side = url.includes('/audio') ? 'a' : 'v';
      const named = /^"(\w+)/.exec(side === 'v' ? (variants[0]?.CODECS ?? '') : '')?.[1];
      // Apple's players compare the two, and know one of those of HEVC.
      if (named) expect(parts[0]?.includes(named)).toBe(true);
      await media.expectPackets(Buffer.concat(parts), [file], { sides: [side], isApart: true });
      // A segment begins with a sync sample: it decodes without those before it.
      const [first, last] = [parts[0], parts.at(-1)] as [Buffer, Buffer];
      expect((await inspect(Buffer.concat([first, last]), '.mp4')).complaints).toBe('');
    }
    expect(rate).toBeLessThanOrEqual(Number(variants[0]?.BANDWIDTH) + 1);
  });

  it('plays in FFmpeg from its master playlist, audio in step with the video', async () => {
    const files = ['bframes.mp4', 'ladder/aac-128.m4a'];
    await expectPackets(`${await start(...files)}master.m3u8`, files.map(media.pathOf) as [string]);
  });

  it('refuses byte ranges of another version of the media', async () => {
    const base = await start('indexed.mp4', 'indexed.m4a');
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
    const base = await start(...files);
    const answer = await sendRequest(base + name);
    expect(answer.status).toBe(status);
    const problem = JSON.parse(answer.body.toString());
    if (detail) expect(problem.detail).toMatch(detail);
    expect((await sendRequest(base + name, { method: 'HEAD' })).status).toBe(status);
  });

  itInChromium.each<readonly [readonly string[], number]>([
    [['indexed.mp4', 'indexed.m4a'], 300],
    [['long-video.mp4', 'long-audio.m4a'], 300],
    [['bframes.mp4', 'short-indexed.m4a'], 8],
    [['muxed-indexed.mp4'], 300],
    [['ladder/both-360.mp4'], 8],
  ])('of %j plays and seeks in hls.js', async (files, seconds) => {
    const positions = [0, seconds * 0.7, seconds * 0.2];
    const played = await runWithPlayer<{ errors: string[]; starts: number[]; frames: number; duration: number }>(
      'hls.js/dist/hls.min.js',
      `const errors = [];
      const hls = new Hls({ enableWorker: false });
      hls.on(Hls.Events.ERROR, (_, { details, fatal }) => {
        // A busy machine plays too slowly, and a seek gives up what it was loading: no faults of the playlists.
        const isOwn = /^buffer(Stalled|NudgeOnStall)/.test(details) || details === Hls.ErrorDetails.INTERNAL_ABORTED;
        if (!isOwn) errors.push(details);
        if (fatal) fail(new Error(details));
      });
      hls.loadSource('${await start(...files)}master.m3u8');
      hls.attachMedia(video);
      const play = async () => {
        await until(() => video.readyState > 1);
        const starts = [];
        for (const position of ${JSON.stringify(positions)}) {
          video.currentTime = position;
          await until(() => !video.seeking);
          // Read before it plays: on a busy machine, events of playback arrive late.
          starts.push(video.currentTime);
          await video.play();
          await until(() => video.currentTime >= position + 0.2);
          video.pause();
        }
        const { totalVideoFrames: frames } = video.getVideoPlaybackQuality();
        return { errors, starts, frames, duration: video.duration };
      };
      play().then(done, fail);`,
    );
    expect(played.errors).toEqual([]);
    for (const [index, position] of positions.entries())
      expect(Math.abs((played.starts[index] ?? Number.NaN) - position)).toBeLessThan(1);
    expect(played.frames).toBeGreaterThan(0);
    expect(Math.abs(played.duration - seconds)).toBeLessThan(0.3);
  });
});
