import { beforeEach, describe, expect, it } from 'vitest';
import type { Resolved } from '../../../../core/resolve/index.ts';
import { publicBaseUrl } from '../../../../lambdas/api/public-base-url.ts';
import { type ApiFakes, ask, createApiFakes, eventOf, jsonOf } from '../../fakes.ts';
import { HOSTILE, itemOf, LIST_URL, listOf } from './fixture.ts';

const DETAILS = {
  description: 'First & <b>second</b>\nline',
  uploadDate: '2026-11-20',
  chapters: [
    { title: 'Start', startSeconds: 0, endSeconds: 30 },
    { title: null, startSeconds: 30 },
  ],
};
const query = (more: Record<string, string> = {}) => `/api/Feed?${new URLSearchParams({ url: LIST_URL, ...more })}`;
const HOST = { host: 'reelay.example:8080' };
/** The one-shot link of an entry, without what selects its rendition. */
const linkOf = (index: number) =>
  `http://reelay.example:8080/api/Get?url=https%3A%2F%2Fmedia.example%2F${index}%3Fx%3D1%26y%3D%C3%A4`;

let fakes: ApiFakes;
beforeEach(() => {
  fakes = createApiFakes();
  fakes.outcome = listOf([{ resource: itemOf('One', { details: DETAILS }) }, {}, { resource: itemOf('Three') }]);
});
const read = async (more?: Record<string, string>, headers: Record<string, string> = HOST) =>
  ask(fakes, query(more), { headers });

/** No request is checked: what matters here is that there is an edge. */
const BEHIND_EDGE = { isFromEdge: async () => true };

describe('GET /api/Feed as RSS', () => {
  it('is a podcast whose enclosures are one-shot links with exact lengths or none', async () => {
    const { statusCode, headers, body = '' } = await read();
    expect([statusCode, headers?.['content-type'], headers?.['cache-control']]).toEqual([
      ...[200, 'application/rss+xml; charset=utf-8', 'private, max-age=900'],
    ]);
    const url = (index: number) => `${linkOf(index)}&amp;quality=mp3`;
    expect([...body.matchAll(/<enclosure [^>]*>/g)].map(([tag]) => tag)).toEqual([
      `<enclosure url="${url(0)}" type="audio/mpeg" length="1234567"/>`,
      `<enclosure url="${url(1)}" type="audio/mpeg" length="0"/>`,
      `<enclosure url="${url(2)}" type="audio/mpeg" length="1234567"/>`,
    ]);
    expect(body).toContain('<pubDate>Fri, 20 Nov 2026 00:00:00 GMT</pubDate>');
    expect(body).toContain('<itunes:duration>62</itunes:duration>');
    expect(body).toContain('&amp;format=chapters&amp;quality=mp3" type="application/json+chapters"/>');
    // Clients render descriptions as HTML, where the text of the source must stay text.
    expect(body).toContain('First &amp;amp; &amp;lt;b&amp;gt;second&amp;lt;/b&amp;gt;&lt;br&gt;line</description>');
    expect(body).toContain('<psc:chapter start="00:00:30.000" title=""/>');
    expect(body).toMatch(/<podcast:guid>[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}</);
  });

  it('may be kept by shared caches where its links depend on no header', async () => {
    fakes.publicUrl = 'https://public.example';
    const { headers, body } = await read();
    expect(headers?.['cache-control']).toBe('max-age=900');
    expect(body).not.toContain('reelay.example');
  });

  it('has thumbnails and transcripts of items that have them, by links that outlive keys', async () => {
    const subtitle = { id: 'subtitle-en', formatId: 's', language: 'en', isAutomatic: false };
    const resource = itemOf('One', { coverUrl: 'https://media.example/c.jpg?a&b', subtitles: [subtitle] });
    fakes.outcome = listOf([{ resource }, {}]);
    const { body = '' } = await read({ quality: '1080p' });
    expect(body.match(/<media:thumbnail [^>]*>/g)).toEqual([
      '<media:thumbnail url="https://media.example/c.jpg?a&amp;b"/>',
    ]);
    const [, url = '', ...more] = /<podcast:transcript url="([^"]*)" type="text\/vtt"\/>/.exec(body) ?? [];
    expect([url, more]).toEqual([expect.stringContaining('/api/Feed?url='), []]);
    fakes.outcome = { type: 'Media', resource };
    const answer = await ask(fakes, url.replaceAll('&amp;', '&').replace(/^https?:\/\/[^/]+/, ''), { headers: HOST });
    expect([answer.statusCode, answer.headers?.location]).toEqual([
      ...[302, `/api/Stream/Subtitle/${resource.id}subtitle-en`],
    ]);
    fakes.outcome = { type: 'Media', resource: itemOf('One') };
    expect((await read({ format: 'transcript' })).statusCode).toBe(400);
  });

  it.each([
    [{ quality: '720p', codec: 'any' }, 'quality=720p&amp;codec=any" type="video/mp4" length="0"/>'],
    // Its stream has told it.
    [{ quality: 'audio' }, 'quality=audio" type="audio/mp4" length="4321"/>'],
    [{ quality: 'audio', audio: 'de' }, 'quality=audio&amp;audio=de" type="audio/mp4" length="0"/>'],
  ])('has its entries as %j selects them, with lengths that are known', async (more, end) => {
    fakes.outcome = listOf([{ resource: itemOf('One', { exactSizes: { 'audio-1': 4321 } }) }, {}]);
    expect((await read(more)).body).toContain(end);
  });

  it('has no length of a conversion whose tag has the title of the list, which its link does not', async () => {
    const origin = { ...itemOf('One').origin, list: LIST_URL };
    fakes.outcome = listOf([{ resource: itemOf('One', { origin, exactSizes: { 'audio-1': 4321 } }) }, {}]);
    expect((await read({ quality: 'mp3' })).body).toContain('quality=mp3" type="audio/mpeg" length="0"/>');
    expect((await read({ quality: 'audio' })).body).toContain('quality=audio" type="audio/mp4" length="4321"/>');
  });

  it('has no times of files that lack segments', async () => {
    const { body } = await read({ quality: 'mp3', skip: 'sponsor' });
    expect(body).toContain('&amp;skip=sponsor" type="audio/mpeg" length="0"/>');
    expect(body).not.toMatch(/<psc:|<podcast:[ct]|<itunes:duration/);
  });

  it('leaves out what has no such rendition, and what is live', async () => {
    fakes.outcome = listOf([
      { resource: itemOf('Silent', { renditions: [], mp3: undefined }) },
      { resource: itemOf('Live', { isLive: true }) },
      { resource: itemOf('Kept') },
    ]);
    const { body = '' } = await read();
    expect([...body.matchAll(/<item><title>(\w+)/g)].map(([, title]) => title)).toEqual(['Kept']);
  });

  it('links the streams of items that have no link of their own', async () => {
    const entry = { url: 'https://media.example/list?a=1&b=2' };
    fakes.outcome = listOf([
      { resource: itemOf('One'), entry },
      { resource: itemOf('Two'), entry },
    ]);
    const { body = '' } = await read();
    expect(body).toContain(`/api/Stream/Media/${'One'.padEnd(22, '_')}audio-1?format=mp3"`);
    const guids = [...body.matchAll(/<guid[^>]*>([^<]*)/g)].map(([, guid]) => guid);
    expect(new Set(guids).size).toBe(2);
  });

  it('signs its links on a private instance, which then need no key of the client', async () => {
    const { body = '' } = await read({}, { ...HOST, 'x-reelay-access': 'a'.repeat(64) });
    const urls = [...body.matchAll(/<enclosure url="([^"]*)"/g)].map(([, url = '']) => url);
    for (const url of urls) expect(url).toMatch(/\/api\/Get\?.*&amp;access=a{12}\.\d+\.[\w-]{22}$/);
    expect(body).toMatch(/\/api\/Feed\?[^"]*access=/);
  });

  it('is a podcast of one for a single item', async () => {
    fakes.outcome = { type: 'Media', resource: itemOf('Only') };
    const { body = '' } = await read();
    expect(body.match(/<item>/g)).toHaveLength(1);
    expect(body).toContain(`url=${encodeURIComponent(LIST_URL)}&amp;quality=mp3`);
  });

  it('stays below the size of a response', async () => {
    const details = { description: '&'.repeat(10_000) };
    fakes.outcome = listOf(
      Array.from({ length: 2_000 }, (_, index) => ({ resource: itemOf(`e${index}`, { details }) })),
    );
    const { body = '' } = await read();
    expect(Buffer.byteLength(body)).toBeLessThan(5_100_000);
    expect(body.endsWith('</item></channel></rss>\n')).toBe(true);
  });
});

describe('GET /api/Feed as M3U8', () => {
  it('is an extended playlist of one-shot links', async () => {
    const { headers, body } = await read({ format: 'm3u8' });
    expect(headers?.['content-type']).toBe('audio/x-mpegurl; charset=utf-8');
    const link = (index: number) => `${linkOf(index)}&quality=best`;
    expect(body?.split('\n')).toEqual([
      '#EXTM3U',
      '#PLAYLIST:A list',
      '#EXTIMG:https://media.example/cover.jpg',
      ...['#EXTINF:62,Someone - One', link(0)],
      ...['#EXTINF:-1,Someone - Entry 1', link(1)],
      ...['#EXTINF:62,Someone - Three', link(2)],
      '',
    ]);
  });

  it.each(HOSTILE)('keeps the title %j in its line', async (title) => {
    fakes.outcome = listOf([{ resource: itemOf(title) }], title);
    const { body = '' } = await read({ format: 'm3u8' });
    const lines = body.split(/[\r\n\u2028\u2029]/);
    expect(lines).toHaveLength(6);
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toHaveLength(1);
  });
});

describe('GET /api/Feed of a page of a list', () => {
  beforeEach(() => {
    fakes.publicUrl = 'https://reelay.example';
    fakes.outcome = { ...listOf([{}, {}]), offset: 200, nextOffset: 400, unavailable: [201] } as Resolved;
  });

  it('names itself and what follows, and links entries without the offset', async () => {
    const { body = '' } = await read({ offset: '200' });
    expect(fakes.resolves.at(-1)).toMatchObject({ offset: 200 });
    const links = [...body.matchAll(/rel="(\w+)"[^>]* href="[^"]*?&amp;offset=(\d+)/g)].map(([, ...found]) => found);
    expect(links).toEqual([
      ['self', '200'],
      ['next', '400'],
    ]);
    expect(body.match(/<enclosure url="[^"]*/g)?.some((url) => url.includes('offset'))).toBe(false);
    expect((await read({ offset: '200', entries: '202' })).body).not.toContain('rel="next"');
  });

  it('numbers files by the whole list', async () => {
    const { body = '' } = await read({ offset: '200', format: 'metalink', entries: '203' });
    expect(body.match(/<file name="[^"]*/g)).toEqual([expect.stringMatching(/203 - /)]);
  });
});

describe('GET /api/Feed for download managers', () => {
  it('is a Metalink with unique names, and sizes where they are exact', async () => {
    const resources = [itemOf('Same'), itemOf('Same'), itemOf('Live', { isLive: true })].map((resource) => ({
      resource,
    }));
    fakes.outcome = { ...listOf([...resources, {}]), unavailable: [2] } as Resolved;
    const { headers, body } = await read({ format: 'metalink', quality: 'mp3' });
    expect(headers?.['content-type']).toBe('application/metalink4+xml');
    const url = (index: number) => `<url>${linkOf(index)}&amp;quality=mp3</url>`;
    expect(body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n' +
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink"><generator>Reelay</generator>' +
        `<file name="The author - A list/01 - Someone - Same.mp3"><size>1234567</size>${url(0)}</file>` +
        `<file name="The author - A list/03 - Someone - Same.mp3"><size>1234567</size>${url(1)}</file>` +
        `<file name="The author - A list/05 - Someone - Entry 3.mp3">${url(3)}</file></metalink>\n`,
    );
  });

  it.each([
    [{ bitrate: '320' }, /<size>2466296<.*&amp;bitrate=320<\/url>/],
    [{ bitrate: '320', tags: 'true' }, /^(?!.*<size>).*&amp;quality=mp3&amp;bitrate=320&amp;tags=true<\/url>/],
    [{ maxBytes: '1100000' }, /<size>986.*&amp;quality=mp3&amp;maxBytes=1100000<\/url>/],
    [{ maxBytes: '9' }, /^(?!.*<size>)/],
  ])('states the sizes of MP3 that are known, and nothing that does not fit: %j', async (more, expected) =>
    expect((await read({ format: 'metalink', quality: 'mp3', ...more })).body).toMatch(
      new RegExp(expected.source, 's'),
    ),
  );

  it('has selected entries with their numbers', async () => {
    const { body = '' } = await read({ format: 'metalink', entries: '3' });
    expect(body.match(/name="[^"]*"/g)).toEqual(['name="The author - A list/03 - Someone - Three.mp4"']);
  });

  it.each(HOSTILE)('keeps the title %j in its folder', async (title) => {
    fakes.outcome = listOf([{ resource: itemOf(title) }], title);
    const [, name = ''] = /<file name="([^"]*)"/.exec((await read({ format: 'metalink' })).body ?? '') ?? [];
    expect(name).toMatch(/^[^/.<][^/<]*\/01 - [^/<]*\.mp4$/);
  });
});

describe('GET /api/Feed as chapters', () => {
  it('has the chapters of an item', async () => {
    fakes.outcome = { type: 'Media', resource: itemOf('One', { details: DETAILS }) };
    const answer = await read({ format: 'chapters' });
    expect(answer.headers?.['content-type']).toBe('application/json+chapters');
    expect(jsonOf(answer)).toEqual({
      version: '1.2.0',
      title: 'One',
      chapters: [{ startTime: 0, endTime: 30, title: 'Start' }, { startTime: 30 }],
    });
  });

  it('answers 415 for a list', async () => {
    expect((await read({ format: 'chapters' })).statusCode).toBe(415);
  });
});

it('a conditional request is answered whole when an entry has changed, and else with 304', async () => {
  const etag = String((await read()).headers?.etag);
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  const again = () => read({}, { ...HOST, 'if-none-match': etag });
  expect(await again()).toMatchObject({ statusCode: 304, headers: { etag } });
  fakes.outcome = listOf([{ resource: itemOf('One') }]);
  expect((await again()).statusCode).toBe(200);
});

it.each<[Record<string, string>, unknown]>([
  ...['0', '1-', 'x', '1, 2', '1;2'].map((entries): [Record<string, string>, string] => [
    { format: 'metalink', entries },
    'entries must be numbers of entries, such as 1-3,7',
  ]),
  [{ format: 'atom' }, 'format must be rss, m3u8, metalink, chapters, transcript, or absent'],
  [{ quality: '8k' }, expect.stringMatching(/^quality must be /)],
])('%j is 400 without a resolve', async (more, detail) => {
  const problem = { type: '/problems/bad-parameter', title: 'Bad Request', status: 400, detail };
  expect(jsonOf(await read(more))).toEqual(problem);
  expect(fakes.resolves).toEqual([]);
});

describe('publicBaseUrl', () => {
  const of = (headers: Record<string, string>, options: Parameters<typeof publicBaseUrl>[1] = {}) =>
    publicBaseUrl(eventOf('/api/Feed', { headers }), options);

  const FORWARDED = { 'x-forwarded-host': 'evil.example, a.example', 'x-forwarded-proto': 'http, https' };

  it.each([
    [{ host: 'localhost:8080' }, {}, 'http://localhost:8080'],
    [{ host: '[::1]:8080' }, {}, 'http://[::1]:8080'],
    [{ host: 'a"><x' }, {}, undefined],
    [{}, {}, undefined],
    // A client's own words.
    [{ host: 'a.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }, {}, 'http://a.example'],
    [{ host: 'in', ...FORWARDED }, { allowedHosts: ['a.example'] }, 'http://in'],
    // The entry of the outermost trusted proxy, where the operator has named it.
    [{ host: 'in', ...FORWARDED }, { trustedProxies: 1, allowedHosts: ['A.example'] }, 'https://a.example'],
    [{ host: 'in', ...FORWARDED }, { trustedProxies: 1, allowedHosts: ['b.example'] }, 'https://in'],
    [{ host: 'in', ...FORWARDED }, { trustedProxies: 1 }, 'https://in'],
    // Ports are in no list: that of Host counts.
    [
      { host: 'in', 'x-forwarded-host': 'a.example:1' },
      { trustedProxies: 1, allowedHosts: ['a.example'] },
      'http://a.example',
    ],
    [
      { host: 'a.example:8443', 'x-forwarded-host': 'a.example:1' },
      { trustedProxies: 1, allowedHosts: ['a.example'] },
      'http://a.example:8443',
    ],
    [{ host: 'in', 'x-forwarded-proto': 'javascript' }, { trustedProxies: 1 }, 'http://in'],
    [{ host: 'abc.execute-api.example' }, BEHIND_EDGE, undefined],
    [{ host: 'in', 'x-forwarded-host': 'd1.example' }, BEHIND_EDGE, 'https://d1.example'],
    [{ host: 'in', 'x-forwarded-host': 'a b' }, BEHIND_EDGE, undefined],
    [{ host: 'in' }, { ...BEHIND_EDGE, publicUrl: 'https://a.example' }, 'https://a.example'],
  ])('of %j with %j is %s', (headers, options, expected) => expect(of(headers as never, options)).toBe(expected));

  it('unknown makes links relative to the feed', async () => {
    const { body = '' } = await read({}, {});
    expect(body).toContain('<enclosure url="/api/Get?url=');
    expect(body).not.toContain('atom:link');
  });
});
