import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archiveKey } from '../../../core/state/keys.ts';
import type { ArchivedList, Track } from '../../../core/state/resource.ts';
import { runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { combinedKey, mediaKey, renditionOf, resourceOf, type Service, startService, trackOf } from '../fixture.ts';
import { encodedSounds } from '../outputs/encode/mp3/encoded-sound.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const run = promisify(execFile);
const SECONDS = 8;
const video = ['-f', 'lavfi', '-i', `testsrc=s=64x48:r=10:d=${SECONDS}`];
const h264 = ['-an', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10', '-pix_fmt', 'yuv420p'];
const fragments = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof+global_sidx'];
const opus = ['-vn', '-c:a', 'libopus', '-b:a', '64k'];
const MEDIA: Readonly<Record<string, readonly [traits: Partial<Track>, args: readonly string[], extension: string]>> = {
  video: [{ audio: null }, h264, 'mp4'],
  audio: [{ video: null, container: 'm4a' }, ['-vn', '-c:a', 'aac'], 'm4a'],
  fragmented: [{ audio: null }, [...h264, ...fragments], 'mp4'],
  adts: [{ video: null, container: 'aac' }, ['-vn', '-c:a', 'aac'], 'aac'],
  opus: [{ video: null, container: 'mp4', audio: { codec: 'opus' } }, opus, 'mp4'],
  opusInOgg: [{ video: null, container: 'webm', audio: { codec: 'opus' } }, opus, 'webm'],
};
const pairs = [
  ['video', 'audio'],
  ['fragmented', 'audio'],
  ['video', 'adts'],
] as const;
const chapters = [
  { title: 'Überblick 😀', startSeconds: 0 },
  { title: 'Second / part', startSeconds: 2.5 },
  { title: null, startSeconds: 5, endSeconds: SECONDS },
];
/** As FFmpeg lists them: title and start, in seconds. */
const LISTED = [
  ['Überblick 😀', 0],
  ['Second / part', 2.5],
  ['Chapter 3', 5],
];
const KEY = archiveKey('https://site.example/watch', {}, true);

/** Title and start of the chapters that ffprobe reads, and the tags. */
async function chaptersOf(body: Buffer, extension: string) {
  return withTemporaryFolder(async (folder) => {
    const file = join(folder, `body${extension}`);
    await writeFile(file, body);
    const args = ['-v', 'error', '-of', 'json', '-show_chapters', '-show_format', '-show_streams', file];
    const { stdout, stderr } = await run('ffprobe', args);
    const { chapters: found, format, streams } = JSON.parse(stdout);
    return {
      listed: found.map((each: { start_time: string; tags: { title: string } }) => [
        each.tags.title,
        Math.round(Number(each.start_time) * 10) / 10,
      ]),
      end: Number(found.at(-1)?.end_time),
      tags: { ...streams[0]?.tags, ...format.tags } as Record<string, string>,
      complaints: stderr,
    };
  });
}

describe('chapters', () => {
  let service: Service;
  const tracks = Object.entries(MEDIA).map(([formatId, [traits]]) => trackOf(formatId, traits));
  const audioAlone = {
    ...renditionOf(['audio']),
    side: 'audio',
    fileExtension: '.m4a',
    mimeType: 'audio/mp4',
  } as const;
  const resource = {
    ...resourceOf(tracks, { durationSeconds: SECONDS, details: { chapters } }),
    renditions: [
      audioAlone,
      ...tracks.map(({ formatId }) => renditionOf([formatId])),
      ...pairs.map((pair) => renditionOf(pair)),
    ],
    mp3: { renditionId: audioAlone.id },
  };
  const list: ArchivedList = {
    id: KEY,
    url: 'https://site.example/watch',
    title: 'A clip',
    author: 'Someone',
    expiresAt: 2e9,
    entries: chapters.map(({ title }, index) => ({
      url: 'https://site.example/watch',
      title,
      author: 'Someone',
      coverUrl: null,
      resourceId: resource.id,
      chapter: index + 1,
    })),
  };
  const get = (key: string, query: string, method = 'GET') =>
    sendRequest(`${service.url}/api/Stream/Media/${key}?${query}`, { method });

  beforeAll(async () => {
    const names = Object.entries(MEDIA).map(([id, [, args, extension]]) => [`${id}.${extension}`, args] as const);
    const folder = await encodedSounds(SECONDS, Object.fromEntries(names), video);
    const files = await Promise.all(names.map(([name]) => readFile(join(folder, name))));
    const sources = Object.fromEntries(
      Object.keys(MEDIA).map((id, index) => [id, fileSource(files[index] ?? Buffer.alloc(0))]),
    );
    service = await startService(resource, sources, {
      peekSource: async (_, { formatId }) => sources[formatId] ?? Promise.reject(new Error()),
      state: { getArchivedList: async (key) => (key === KEY ? list : undefined) },
    });
  });
  afterAll(() => service?.close());

  it.each([
    ['MP3', mediaKey('audio'), 'format=mp3&', '.mp3', true],
    ['M4A', mediaKey('audio'), 'format=m4a&', '.m4a', true],
    ['Opus', mediaKey('opus'), 'format=opus&', '.opus', true],
    ['Opus of unknown length', mediaKey('opusInOgg'), 'format=opus&', '.opus', false],
    ['a pair that FFmpeg muxes', combinedKey('video', 'adts'), '', '.mp4', false],
  ])('are part of the tags of %s', async (_, key, format, extension, isSized) => {
    const { status, body, headers } = await get(key, `${format}tags=true`);
    const { listed, end, complaints } = await chaptersOf(body, extension);
    expect([status, listed, complaints]).toEqual([200, LISTED, '']);
    if (extension !== '.opus') expect(Math.abs(end - SECONDS)).toBeLessThan(0.1);
    expect(headers['content-length']).toBe(isSized ? String(body.length) : undefined);
    expect((await chaptersOf((await get(key, format)).body, extension)).listed).toEqual([]);
  });

  it('are a track that mpv lists', async () => {
    const url = `${service.url}/api/Stream/Media/${combinedKey('fragmented')}?tags=true`;
    const mpv = await runProgram('mpv', [
      ...['--no-config', '--vo=null', '--ao=null', '--frames=1', '--length=0.1'],
      ...[`--term-playing-msg=$${'{chapter-list}'}`, url],
    ]);
    expect(mpv.output).toMatch(/Second \/ part/);
  });

  it.each([
    ['format=mp3&', mediaKey('audio'), '.mp3'],
    ['format=m4a&', mediaKey('audio'), '.m4a'],
    ['format=opus&', mediaKey('opus'), '.opus'],
    ['', combinedKey(), '.mp4'],
  ])('of a clip with %s are shifted', async (format, key, extension) => {
    const { body } = await get(key, `${format}tags=true&start=2&end=4`);
    expect((await chaptersOf(body, extension)).listed).toEqual([
      ['Überblick 😀', 0],
      ['Second / part', 0.5],
    ]);
  });

  it('are clips of their own by ?chapter=, with name, title, number and album', async () => {
    const { status, body, headers } = await get(mediaKey('audio'), 'format=mp3&tags=true&chapter=2');
    const clip = await get(mediaKey('audio'), 'format=mp3&tags=true&start=2.5&end=5');
    const { tags, listed } = await chaptersOf(body, '.mp3');
    const framesBytes = (2.5 / 0.024) * 576;
    expect([status, listed]).toEqual([200, []]);
    expect(body.subarray(-framesBytes + 576).equals(clip.body.subarray(-framesBytes + 576))).toBe(true);
    expect(tags).toMatchObject({ title: 'Second / part', artist: 'Someone', album: 'A clip', track: '2' });
    expect(headers['content-disposition']).toContain('filename="Someone - Second part.mp3"');
    for (const [key, query, extension] of [
      [mediaKey('audio'), 'format=mp3', '.mp3'],
      [mediaKey('opus'), 'format=opus', '.opus'],
    ] as const) {
      const untagged = await get(key, `${query}&chapter=2`);
      const { title, TITLE = title, album } = (await chaptersOf(untagged.body, extension)).tags;
      expect([untagged.status, TITLE, album], query).toEqual([200, 'Second / part', undefined]);
    }
    const named = await get(combinedKey(), 'chapter=3&name=x', 'HEAD');
    expect([named.status, named.headers['content-disposition']]).toEqual([200, expect.stringContaining('"x.mp4"')]);
    const { status: beyond, body: reason } = await get(combinedKey(), 'chapter=4');
    expect([beyond, reason.toString()]).toEqual([400, expect.stringContaining('last chapter is number 3')]);
    const plain = await get(combinedKey(), 'chapter=3');
    expect(plain.body.equals((await get(combinedKey(), 'start=5')).body)).toBe(true);
  });

  it('are session data of the HLS presentation', async () => {
    const base = `${service.url}/api/Stream/Hls/${combinedKey()}`;
    const master = (await sendRequest(`${base}/master.m3u8`)).body.toString();
    expect(master).toContain('#EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="chapters.json"\n');
    const { status, headers, body } = await sendRequest(`${base}/chapters.json`);
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(JSON.parse(body.toString())).toEqual([
      { chapter: 1, 'start-time': 0, duration: 2.5, titles: [{ language: 'und', title: 'Überblick 😀' }] },
      { chapter: 2, 'start-time': 2.5, duration: 2.5, titles: [{ language: 'und', title: 'Second / part' }] },
      { chapter: 3, 'start-time': 5, duration: 3, titles: [{ language: 'und', title: 'Chapter 3' }] },
    ]);
    const head = await sendRequest(`${base}/chapters.json`, { method: 'HEAD' });
    expect(head.headers['content-length']).toBe(String(body.length));
  });

  it.each([
    ['quality=mp3', ['.mp3', '.mp3', '.mp3']],
    ['quality=audio', ['.m4a', '.m4a', '.m4a']],
  ])('are the files of an archive with %s, of a length that is known', async (quality, extensions) => {
    const url = `${service.url}/api/Stream/Archive/${KEY}?${quality}&tags=true`;
    const head = await sendRequest(url, { method: 'HEAD' });
    const { status, headers, body } = await sendRequest(url);
    expect([status, headers['content-length']]).toEqual([200, String(body.length)]);
    expect(head.headers['content-length']).toBe(headers['content-length']);
    await withTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'archive'), body);
      const { code, output } = await runProgram('bsdtar', ['-xvf', join(folder, 'archive'), '-C', folder]);
      expect([code, output.match(/A clip\/\d\d - .*/g)]).toEqual([
        0,
        ['Überblick 😀', 'Second part', 'Chapter 3'].map(
          (title, index) => `A clip/0${index + 1} - Someone - ${title}${extensions[index]}`,
        ),
      ]);
      const second = await readFile(join(folder, `Someone - A clip/02 - Someone - Second part${extensions[1]}`));
      const { tags } = await chaptersOf(second, extensions[1] ?? '');
      expect(tags).toMatchObject({ title: 'Second / part', album: 'A clip', track: expect.stringMatching(/^2/) });
    });
  });
});
