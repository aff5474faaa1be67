import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import {
  archivedList,
  combinedKey,
  expectSized,
  mediaKey,
  renditionOf,
  resourceOf,
  type Service,
  startService,
} from '../fixture.ts';
import { encodeSources, FRAGMENTS, H264, OPUS } from './coded-media.ts';
import { detailsOf } from './probed-details.ts';

const SECONDS = 8;
const { tracks, sources } = await encodeSources(SECONDS, {
  video: [{ audio: null }, ['-an', ...H264], 'mp4'],
  audio: [{ video: null, container: 'm4a' }, ['-vn', '-c:a', 'aac'], 'm4a'],
  fragmented: [{ audio: null }, ['-an', ...H264, ...FRAGMENTS], 'mp4'],
  adts: [{ video: null, container: 'aac' }, ['-vn', '-c:a', 'aac'], 'aac'],
  opus: [{ video: null, container: 'mp4', audio: { codec: 'opus' } }, ['-vn', ...OPUS], 'mp4'],
  opusInOgg: [{ video: null, container: 'webm', audio: { codec: 'opus' } }, ['-vn', ...OPUS], 'webm'],
});
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

describe('chapters', () => {
  let service: Service;
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
  const entries = chapters.map(({ title }, index) => ({
    title,
    author: 'Someone',
    resourceId: resource.id,
    chapter: index + 1,
  }));
  const list = archivedList(entries, { title: 'A clip', author: 'Someone' });
  const get = (key: string, query: string, method = 'GET') =>
    sendRequest(`${service.url}/api/Stream/Media/${key}?${query}`, { method });

  beforeAll(async () => {
    const state = { getArchivedList: async (key: string) => (key === list.id ? list : undefined) };
    service = await startService(resource, sources, { isPeeked: true, state });
  });

  it.each([
    ['MP3', mediaKey('audio'), 'format=mp3&', '.mp3', true],
    ['M4A', mediaKey('audio'), 'format=m4a&', '.m4a', true],
    ['Opus', mediaKey('opus'), 'format=opus&', '.opus', true],
    ['a pair', combinedKey(), '', '.mp4', true],
    ['Opus of unknown length', mediaKey('opusInOgg'), 'format=opus&', '.opus', false],
    ['a pair that FFmpeg muxes', combinedKey('video', 'adts'), '', '.mp4', false],
  ])('are part of the tags of %s, and shifted in a clip', async (_, key, format, extension, isSized) => {
    const { status, body, headers } = await get(key, `${format}tags=true`);
    const { chapters: listed, end } = await detailsOf(body, extension);
    expect([status, listed]).toEqual([200, LISTED]);
    if (extension !== '.opus') expect(Math.abs(end - SECONDS)).toBeLessThan(0.1);
    expect(headers['content-length']).toBe(isSized ? String(body.length) : undefined);
    expect((await detailsOf((await get(key, format)).body, extension)).chapters).toEqual([]);
    if (!isSized) return;
    const clip = await get(key, `${format}tags=true&start=2&end=4`);
    expect((await detailsOf(clip.body, extension)).chapters).toEqual([
      ['Überblick 😀', 0],
      ['Second / part', 0.5],
    ]);
  });

  it('are a track that mpv lists', async () => {
    const url = `${service.url}/api/Stream/Media/${combinedKey('fragmented')}?tags=true`;
    const mpv = await runProgram('mpv', [
      ...['--no-config', '--vo=null', '--ao=null', '--frames=1', '--length=0.1'],
      ...[`--term-playing-msg=$${'{chapter-list}'}`, url],
    ]);
    expect(mpv.output).toMatch(/Second \/ part/);
  });

  it('are clips of their own by ?chapter=, with name, title, number and album', async () => {
    const { status, body, headers } = await get(mediaKey('audio'), 'format=mp3&tags=true&chapter=2');
    const clip = await get(mediaKey('audio'), 'format=mp3&tags=true&start=2.5&end=5');
    const { tags, chapters: listed } = await detailsOf(body, '.mp3');
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
      const { title, TITLE = title, album } = (await detailsOf(untagged.body, extension)).tags;
      expect([untagged.status, TITLE, album], query).toEqual([200, 'Second / part', undefined]);
    }
    const named = await get(combinedKey(), 'chapter=3&name=x', 'HEAD');
    expect([named.status, named.headers['content-disposition']]).toEqual([200, expect.stringContaining('"x.mp4"')]);
    const { status: beyond, body: reason } = await get(combinedKey(), 'chapter=4');
    expect([beyond, reason.toString()]).toEqual([400, expect.stringContaining('last chapter is number 3')]);
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
    ['quality=mp3', '.mp3'],
    ['quality=audio', '.m4a'],
  ])('are the files of an archive with %s, of a length that is known', async (quality, extension) => {
    const body = await expectSized(`${service.url}/api/Stream/Archive/${list.id}?${quality}&tags=true`);
    await withTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'archive'), body);
      const { code, output } = await runProgram('bsdtar', ['-xvf', join(folder, 'archive'), '-C', folder]);
      expect([code, output.match(/A clip\/\d\d - .*/g)]).toEqual([
        0,
        ['Überblick 😀', 'Second part', 'Chapter 3'].map(
          (title, index) => `A clip/0${index + 1} - Someone - ${title}${extension}`,
        ),
      ]);
      const second = await readFile(join(folder, `Someone - A clip/02 - Someone - Second part${extension}`));
      const { tags } = await detailsOf(second, extension);
      expect(tags).toMatchObject({ title: 'Second / part', album: 'A clip', track: expect.stringMatching(/^2/) });
    });
  });
});
