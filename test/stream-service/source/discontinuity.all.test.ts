import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packDashSegments } from '@reelay/seekable-media/dash';
import { describe, expect, it } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { madeBy } from '../../origin/media.ts';
import { sendRequest, statusOrBroken } from '../../support/request.ts';
import { resourceOf, startService, trackOf } from '../fixture.ts';
import { melody, packetTimes } from '../tones.ts';
import { startUpstream } from './upstream.ts';

/** Six seconds of a picture and a tone. */
const coded = (picture: string, tone: number, ...more: string[]): string[] => [
  ...['-f', 'lavfi', '-i', `testsrc=s=${picture}:r=10:d=6`, '-f', 'lavfi', '-i', `sine=${tone}:r=48000:d=6`],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20', '-bf', '0', '-c:a', 'aac', ...more],
];
/** In three segments. */
const recording = (name: string, ...[picture, tone, ...more]: Parameters<typeof coded>): string[] => [
  ...coded(picture, tone, ...more, '-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod'),
  ...['-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', `${name}.mp4`],
  ...['-hls_segment_filename', `${name}%d.m4s`, `${name}.m3u8`],
];
/** In one piece of MPEG-TS whose clock begins at a time. */
const broadcast = (name: string, tone: number, seconds: number): string[] =>
  coded('64x48', tone, '-output_ts_offset', String(seconds), '-f', 'mpegts', `${name}.ts`);

const folder = await madeBy([
  recording('low', '64x48', 400),
  recording('high', '64x48', 800),
  recording('wide', '96x48', 800),
  broadcast('early', 400, 0),
  broadcast('late', 800, 14),
  recording('slow', '64x48', 800, '-ar', '44100'),
  recording('turned', '64x48', 800, '-map', '1:a', '-map', '0:v'),
]);
/** An initialization of which an encoder with another name says the same. */
const named = async () => {
  const init = await readFile(join(folder, 'high.mp4'));
  const place = init.indexOf('avc1') + 4 + 42;
  init.write('\x07Another', place, 'latin1');
  return init;
};
const upstream = await startUpstream();
upstream.use(async (request, response) => {
  const path = (request.url ?? '').replace(/^\/|\?.*/g, '');
  if (path === 'named.mp4') return void response.end(await named());
  response.end(path.endsWith('.list') ? lists.get(path) : await readFile(join(folder, path)));
});

const lists = new Map<string, string>();
const map = (name: string) => `#EXT-X-MAP:URI="${name}.mp4"`;
const media = (name: string) => [0, 1, 2].flatMap((n) => ['#EXTINF:2.000,', `${name}${n}.m4s`]);
const DISCONTINUITY = '#EXT-X-DISCONTINUITY';

/** The address of a rendition of HLS. @param isFile it is read as a file */
function hls(lines: readonly string[], isFile = false): Promise<string> {
  lists.set(
    'a.list',
    ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:2', ...lines, '#EXT-X-ENDLIST'].join('\n'),
  );
  return serve({ delivery: 'hls', url: `${upstream.origin}/a.list` }, 12, isFile);
}

async function serve(traits: Partial<Track>, durationSeconds: number, isFile = false): Promise<string> {
  const resource = resourceOf([trackOf('f', traits)], { durationSeconds });
  const { openSource, findFile } = upstream.openers();
  const service = await startService(resource, { f: openSource }, isFile ? { findFile } : {});
  return service.media('f');
}

/** The longest time between two packets, and the end of all, seconds. */
async function stepsOf(body: Buffer, side: 'v' | 'a') {
  const times = await packetTimes(body, side);
  const longest = Math.max(...times.map((time, index) => time - (times[index - 1] ?? time)));
  return { count: times.length, longest, last: times.at(-1) ?? 0 };
}

const outcome = (url: string): Promise<unknown> => statusOrBroken(sendRequest(url));

describe('fragmented MP4 with discontinuous timestamps', () => {
  it.each<[string, string[]]>([
    ['after a discontinuity', [map('low'), ...media('low'), DISCONTINUITY, ...media('low')]],
    [
      'behind another initialization that says the same',
      [map('low'), ...media('low'), DISCONTINUITY, map('high'), ...media('high')],
    ],
    [
      'behind the same initialization under another address',
      [map('low'), ...media('low'), DISCONTINUITY, '#EXT-X-MAP:URI="low.mp4?again"', ...media('low')],
    ],
    [
      'behind another initialization with other track ids',
      [map('low'), ...media('low'), DISCONTINUITY, map('turned'), ...media('turned')],
    ],
    [
      'behind an initialization that names another encoder',
      [map('low'), ...media('low'), DISCONTINUITY, map('named'), ...media('high')],
    ],
    ['behind another initialization alone', [map('low'), ...media('low'), map('high'), ...media('high')]],
  ])('becomes continuous %s', async (_, lines) => {
    const { status, body } = await sendRequest(await hls(lines));
    expect(status).toBe(200);
    const [pictures, sound] = [await stepsOf(body, 'v'), await stepsOf(body, 'a')];
    expect(pictures.count).toBe(120);
    expect(pictures.longest).toBeLessThan(0.15);
    expect(pictures.last).toBeCloseTo(11.9, 0);
    expect(sound.longest).toBeLessThan(0.08);
    expect(sound.last).toBeCloseTo(12, 0);
  });

  it('converts to MP3 completely, as a file from any offset', async () => {
    const url = `${await hls([map('low'), ...media('low'), DISCONTINUITY, map('high'), ...media('high')], true)}?format=mp3`;
    const { body } = await sendRequest(url);
    expect(await melody(body)).toBe('400×6 800×6');
    const part = await sendRequest(url, { headers: { range: 'bytes=200000-' } });
    expect(part.body.equals(body.subarray(200_000))).toBe(true);
  });

  it('continues across DASH periods', async () => {
    const fragments = [
      'low.mp4',
      'low0.m4s',
      'low1.m4s',
      'low2.m4s',
      'high.mp4',
      'high0.m4s',
      'high1.m4s',
      'high2.m4s',
    ].map((name) => ({ url: `${upstream.origin}/${name}`, seconds: name.endsWith('.mp4') ? 0 : 2 }));
    const url = await serve({ delivery: 'dash', fragments: packDashSegments(fragments) }, 12);
    const { body } = await sendRequest(url);
    expect(await stepsOf(body, 'v')).toMatchObject({ count: 120, last: expect.closeTo(11.9, 0) });
    expect(await melody(body)).toBe('400×6 800×6');
    expect(await melody((await sendRequest(`${url}?format=mp3`)).body)).toBe('400×6 800×6');
  });
});

describe('fragmented MP4 whose encoding changes', () => {
  it('is refused with the reason, before the first byte', async () => {
    const url = await hls([map('low'), ...media('low'), DISCONTINUITY, map('wide'), ...media('wide')]);
    const { status, body } = await sendRequest(url);
    expect([status, JSON.parse(body.toString()).detail]).toEqual([415, expect.stringMatching(/^The encoding changes/)]);
  });

  it('is refused where a playlist names more initializations than are read ahead, at the latest midway', async () => {
    const maps = Array.from({ length: 17 }, (_, n) => [`#EXT-X-MAP:URI="low.mp4?${n}"`, '#EXTINF:2.000,', 'low0.m4s']);
    const url = await hls([...maps.flat(), DISCONTINUITY, map('wide'), ...media('wide')]);
    expect(['broken', 502]).toContain(await outcome(url));
  });

  it('converts to MP3 completely when only the video changes', async () => {
    const url = await hls([map('low'), ...media('low'), DISCONTINUITY, map('wide'), ...media('wide')]);
    expect(await melody((await sendRequest(`${url}?format=mp3`)).body)).toBe('400×6 800×6');
    const file = await hls([map('low'), ...media('low'), DISCONTINUITY, map('wide'), ...media('wide')], true);
    expect(await melody((await sendRequest(`${file}?format=mp3`)).body)).toBe('400×6 800×6');
  });

  it('fails the MP3 conversion when the audio changes', async () => {
    const url = await hls([map('low'), ...media('low'), DISCONTINUITY, map('slow'), ...media('slow')]);
    for (const query of ['', '?format=mp3']) expect(await outcome(url + query)).toBe(415);
  });
});

describe('MPEG-TS with a timestamp jump at a discontinuity', () => {
  const piece = (name: string) => ['#EXTINF:6.000,', `${name}.ts`];

  it('leaves no gap', async () => {
    const url = await hls([...piece('early'), DISCONTINUITY, ...piece('late')]);
    const { body } = await sendRequest(url);
    expect(await stepsOf(body, 'v')).toMatchObject({ count: 120, last: expect.closeTo(11.9, 0) });
    expect((await stepsOf(body, 'v')).longest).toBeLessThan(0.3);
    expect(await melody((await sendRequest(`${url}?format=mp3`)).body)).toBe('400×6 800×6');
  });
});
