import { describe, expect, it } from 'vitest';
import type { MediaDetails } from '../../clients/reelay-client/src/api-types.ts';
import { expectHeadOf, renditionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();
async function getDetails(path: string): Promise<MediaDetails> {
  const answer = await target.get(target.pathOf('Fetch/GetDetails', path));
  return target.api.expectAnswer('GET', '/api/Fetch/GetDetails', answer) as MediaDetails;
}

describe('GET /api/Fetch/GetDetails', () => {
  it('answers what the source describes', async () => {
    const details = await getDetails('/site/detailed/one');
    expect(details).toMatchObject({
      type: 'Media',
      author: 'Ärtist Example',
      isLive: false,
      description: 'First line\n<script>alert(1)</script>\nLast line',
      uploadDate: '2026-03-01',
      tags: ['music', 'live'],
      chapters: [
        { title: 'Intro', startSeconds: 0, endSeconds: 1.5 },
        { title: 'End', startSeconds: 1.5, endSeconds: 2 },
      ],
      thumbnails: [
        { width: 1280, height: 720 },
        { width: 640, height: 640 },
      ],
    });
    expect(details.durationSeconds).toBeGreaterThan(1);
    const listed = details.subtitles.map(({ language, name, isAutomatic }) => [language, name, isAutomatic]);
    expect(listed).toEqual([
      ['en', 'English', false],
      ['fr', null, false],
      ['it', null, false],
      ['pt', null, false],
      ['ja', null, false],
      ['es', null, false],
      ['de', null, true],
    ]);
  });

  it('lists all audio, and GetResource what is no dub', async () => {
    const { audio } = await getDetails('/site/dubbed/listed');
    const of = ({ language, isOriginal, isDubbed, isDescriptive, isDrc }: MediaDetails['audio'][number]) =>
      [language, isOriginal, isDubbed, isDescriptive, isDrc].join();
    expect(audio.map(of)).toEqual(['en,false,false,false,false', 'de,false,true,false,false']);
    expect(audio.map(({ label }) => label)).toEqual([
      expect.stringMatching(/^\d+ kbps English$/),
      expect.stringMatching(/^\d+ kbps German \(dubbed\)$/),
    ]);
    const { resource } = await target.resolve('/site/dubbed/listed');
    const [original, dub] = audio.map(({ key }) => key);
    expect(resource.mediaItems[0]?.audio?.renditions.map(({ key }) => key)).toEqual([original, original]);
    const stream = await target.get(`/api/Stream/Media/${dub}`);
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'audio/mp4']);
    expect(stream.body).toHaveLength(audio[1]?.fileSizeBytes ?? 0);
  });

  it('answers from the resolve of GetResource', async () => {
    await target.resolve('/site/detailed/shared');
    const before = target.origin.requests.length;
    await getDetails('/site/detailed/shared');
    expect(target.origin.requests.length).toBe(before);
  });

  it('names the entries of a list that GetResource leaves out, and why', async () => {
    const path = '/site/list/left-out?n=4&dead=1&drm=3';
    await target.resolve(path);
    const entry = (kind: string, number: number) => target.origin.url(`/site/${kind}/left-out-${number}`);
    expect(await getDetails(path)).toMatchObject({
      type: 'PlayList',
      title: 'List left-out',
      audio: [],
      unavailable: [
        { number: 1, url: entry('gone', 1), title: 'Entry 1', reason: 'gone' },
        { number: 3, url: entry('drm', 3), title: 'Entry 3', reason: 'drm' },
      ],
    });
    // A list with one available entry has the details of that item.
    expect(await getDetails('/site/list/one-left?n=2&dead=1')).toMatchObject({
      type: 'Media',
      title: expect.stringContaining('one-left-2'),
      unavailable: [{ number: 1, title: 'Entry 1' }],
    });
  });

  it('waits for no entry of a list when the client does not', async () => {
    const before = target.origin.requests.length;
    const path = target.pathOf('Fetch/GetDetails', '/site/list/unwaited?n=3&dead=1');
    const { status, body } = await target.get(path, { headers: { prefer: 'wait=0' } });
    expect([status, JSON.parse(body.toString()).unavailable]).toEqual([200, []]);
    expect(target.origin.requests.slice(before).map(({ path }) => path)).toEqual([
      '/site-api/list/unwaited?n=3&dead=1',
    ]);
  });

  it('answers 404 for nothing', async () => {
    expect((await target.get(target.pathOf('Fetch/GetDetails', '/site/nothing/details'))).status).toBe(404);
  });
});

describe('GET /api/Stream/Cover/{key}', () => {
  const coverOf = async (link: string) => `/api/Stream/Cover/${(await renditionOf(target, link)).key}`;

  it('answers the picture of the source, as a file to save', async () => {
    const { status, headers, body } = await expectHeadOf(target, await coverOf('/site/detailed/cover'));
    expect([status, headers['content-type']]).toEqual([200, 'image/jpeg']);
    expect(body.subarray(0, 3).toString('latin1')).toBe('\xff\xd8\xff');
    expect(headers['content-length']).toBe(String(body.length));
    expect(headers['content-disposition']).toMatch(/^attachment; .*\.jpg/);
  });

  it('answers 404 for an item without a cover, and for other keys', async () => {
    expect((await target.get(await coverOf('/files/clip.mp4'))).status).toBe(404);
    expect((await target.get('/api/Stream/Cover/nothing')).status).toBe(404);
  });
});

describe('GET /api/Stream/Subtitle/{key}', () => {
  const keyOf = async (language: string) =>
    (await getDetails('/site/detailed/one')).subtitles.find((subtitle) => subtitle.language === language)?.key ?? '';
  const pathOf = async (language: string, more = '') => `/api/Stream/Subtitle/${await keyOf(language)}${more}`;
  const get = async (language: string, more = '', options = {}) => target.get(await pathOf(language, more), options);

  it.each([
    ['en', '', 'text/vtt; charset=utf-8', 'WEBVTT\n\n00:00:01.000 --> 00:00:02.500\nHello &amp; welcome\n\n'],
    [
      'fr',
      '?format=srt',
      'application/x-subrip; charset=utf-8',
      '1\n00:00:01,000 --> 00:00:02,500\nBonjour\nà tous\n\n',
    ],
    [
      'es',
      '',
      'text/vtt; charset=utf-8',
      'WEBVTT\n\n00:00:01.000 --> 00:00:02.500\nHola\n\n00:00:05.000 --> 00:00:06.000\nAdiós\n\n',
    ],
    ['de', '?format=TXT', 'text/plain; charset=utf-8', 'Hallo\n'],
  ])('converts %s%s', async (language, query, type, body) => {
    const { status, headers, body: bytes } = await expectHeadOf(target, await pathOf(language, query));
    expect([status, headers['content-type'], bytes.toString()]).toEqual([200, type, body]);
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(headers['content-disposition']).toContain(`.${language}.`);
  });

  it('answers ranges of the converted file', async () => {
    const { status, headers, body } = await get('en', '', { headers: { range: 'bytes=0-5' } });
    expect([status, body.toString()]).toEqual([206, 'WEBVTT']);
    expect([headers.etag, headers['accept-ranges']]).toEqual([expect.stringMatching(/^"/), 'bytes']);
  });

  it.each([
    ['it', '', 502],
    ['pt', '', 404],
    ['ja', '', 502],
    ['en', '?format=ass', 400],
  ])('%s%s is answered with %d', async (language, query, status) => {
    expect((await get(language, query)).status).toBe(status);
  });

  it('serves keys of subtitles here only, and no others', async () => {
    const key = await keyOf('en');
    expect((await target.get(`/api/Stream/Media/${key}`)).status).toBe(404);
    const { key: video } = await renditionOf(target, '/site/detailed/one');
    expect((await target.get(`/api/Stream/Subtitle/${video}`)).status).toBe(404);
  });

  it('answers HEAD with the type alone where the file cannot be read', async () => {
    const { status, headers } = await get('it', '', { method: 'HEAD' });
    expect([status, headers['content-type'], headers['content-length']]).toEqual([
      200,
      'text/vtt; charset=utf-8',
      undefined,
    ]);
  });
});
