import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { NotDeliverable, NotFound } from '../../../../core/errors/index.ts';
import type { Track } from '../../../../core/state/resource.ts';
import type { Media } from '../../../../lambdas/api/mcp-tools.ts';
import { connectMcp, MESSAGE_HEADERS, messageOf } from '../../../support/mcp-client.ts';
import { ALLOWED_ORIGIN, type ApiFakes, ask, createApiFakes, eventOf, functionsOver, RESOURCE } from '../../fakes.ts';
import { itemOf, listOf } from '../feed/fixture.ts';

const BASE_URL = 'http://reelay.example:8080';
const HOST = { host: 'reelay.example:8080' };
const LINK = 'https://media.example/watch?v=1';

let fakes: ApiFakes;
beforeEach(() => {
  fakes = createApiFakes();
});

/** Passes the requests of the SDK's client to the function. */
const connect = (headers: Record<string, string> = {}, mode?: 'auto') =>
  connectMcp(BASE_URL, {
    mode,
    fetch: async (url, init) => {
      const sent = Object.fromEntries(new Headers(init?.headers));
      const { pathname } = new URL(url.toString());
      const { method = 'GET', body } = init ?? {};
      const answer = await ask(fakes, pathname, {
        method,
        headers: { ...HOST, ...sent, ...headers },
        body: body?.toString(),
      });
      const hasBody = answer.statusCode !== 202 && answer.statusCode !== 204;
      return new Response(hasBody ? (answer.body ?? '') : null, {
        status: answer.statusCode ?? 200,
        headers: answer.headers as Record<string, string>,
      });
    },
  });
/** Calls a tool that fails, with words that match. */
const expectFailure = async (tool: string, args: Record<string, unknown>, words: RegExp) => {
  const { call } = await connect();
  expect(await call(tool, args)).toMatchObject({ isError: true, text: expect.stringMatching(words) });
};
const post = (body: string, headers: Record<string, string> = {}) =>
  ask(fakes, '/mcp', { method: 'POST', headers: { ...HOST, ...MESSAGE_HEADERS, ...headers }, body });

describe('POST /mcp', () => {
  it.each([
    ['malformed JSON', '{"jsonrpc":', {}, 400],
    ['no message', '{"a":1}', {}, 400],
    ['no body', '', {}, 400],
    ['another type', messageOf('ping'), { 'content-type': 'text/plain' }, 415],
    ['an Accept without event streams', messageOf('ping'), { accept: 'application/json' }, 406],
    ['an unknown revision', messageOf('ping'), { 'mcp-protocol-version': '1999-01-01' }, 400],
  ])('answers %s with an error of JSON-RPC', async (_, body, headers, status) => {
    const answer = await post(body, headers);
    expect([answer.statusCode, answer.headers?.['content-type']]).toEqual([status, 'application/json']);
    expect(JSON.parse(answer.body ?? '')).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) } });
    expect(fakes.resolves).toEqual([]);
  });

  const batch = `[${messageOf('tools/call', { name: 'fetch_media', arguments: { url: LINK } })}]`;
  it.each([
    ['a batch', batch],
    ['a batch behind white space', `${' \t\r\n'.repeat(64)}${batch}`],
    ['a batch behind 60 KB of white space', `${'\n'.repeat(60_000)}${batch}`],
    ['a batch behind a byte order mark', `\uFEFF${batch}`],
    ['a batch behind white space that JSON does not have', `\u00A0\u2028${batch}`],
    ['a batch in UTF-16', Buffer.from(`\uFEFF${batch}`, 'utf16le')],
    ['a batch in UTF-16 without a mark', Buffer.from(batch, 'utf16le')],
    ['a text', '"ping"'],
    ['null', 'null'],
  ])('refuses %s, and runs nothing of it', async (_, body) => {
    const event = eventOf('/mcp', { method: 'POST', headers: { ...HOST, ...MESSAGE_HEADERS } });
    const encoded = Buffer.from(body).toString('base64');
    const answer = await functionsOver(fakes)({ ...event, body: encoded, isBase64Encoded: true }, {} as never);
    expect(answer).toMatchObject({ statusCode: 400, body: expect.stringContaining('"error"') });
    expect(fakes.resolves).toEqual([]);
  });

  it('reads a body in base64, as API Gateway may send it', async () => {
    const event = eventOf('/mcp', {
      method: 'POST',
      headers: { ...HOST, ...MESSAGE_HEADERS },
      body: Buffer.from(messageOf('ping')).toString('base64'),
    });
    const answer = await functionsOver(fakes)({ ...event, isBase64Encoded: true }, {} as never);
    expect(answer).toMatchObject({ statusCode: 200, body: expect.stringContaining('"result":{}') });
  });

  it.each([
    ['https://evil.example', 403],
    [ALLOWED_ORIGIN, 200],
  ])('answers a page of %s with %d', async (origin, status) => {
    const { statusCode, body = '' } = await post(messageOf('tools/list'), { origin });
    expect(statusCode).toBe(status);
    if (status === 403) expect(JSON.parse(body)).toMatchObject({ type: '/problems/cross-site' });
  });

  it('lets pages of allowed origins send the headers of the protocol', async () => {
    const { headers } = await ask(fakes, '/mcp', { method: 'OPTIONS', headers: { origin: ALLOWED_ORIGIN } });
    expect(headers).toMatchObject({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': expect.stringMatching(/Content-Type.*MCP-Protocol-Version/),
    });
  });

  it('fails for an unknown tool and for arguments that do not match', async () => {
    const { call } = await connect();
    await expect(call('delete_media', {})).rejects.toThrow(/delete_media/);
    for (const args of [{ url: 7 }, {}]) await expectFailure('fetch_media', args, /url/);
    expect(fakes.resolves).toEqual([]);
  });

  it('offers no subscription, which would keep the response open', async () => {
    const { client } = await connect({}, 'auto');
    await expect(client.listen({ toolsListChanged: true })).rejects.toThrow();
  });
});

describe('fetch_media', () => {
  const media = async (url = LINK, headers?: Record<string, string>): Promise<Media> => {
    const { call } = await connect(headers);
    const { data, text, isError } = await call('fetch_media', { url });
    expect([isError, JSON.parse(text)]).toEqual([false, data]);
    return data;
  };

  it('returns the files of items that only the page of the list has', async () => {
    const entry = { url: LINK };
    fakes.outcome = listOf([
      { resource: itemOf('One'), entry },
      { resource: itemOf('Two'), entry },
    ]);
    for (const { audio, video } of (await media()).items) expect([...audio, ...video]).not.toEqual([]);
  });

  it('signs the addresses for the access key of a private instance', async () => {
    const hash = createHash('sha256').update('key').digest('hex');
    const { items } = await media(LINK, { 'x-reelay-access': hash });
    expect(items[0]?.video[0]?.downloadUrl).toMatch(
      new RegExp(`^${BASE_URL}/api/Stream/Media/[\\w-]+\\.${hash.slice(0, 12)}\\.\\d+\\.[\\w-]{22}$`),
    );
  });

  it.each([
    ['not a link', undefined, /^Not a link\. /],
    [LINK, new NotFound('Nothing', { reason: 'gone' }), /^No longer there\. .* Resolve the link of the page again/],
    [LINK, new NotDeliverable('It is encrypted.', { reason: 'drm' }), /^Protected content\. /],
    [LINK, new Error('secret cause'), /^(?!.*secret cause)/],
  ])('fails in words for %s (%s)', async (url, failure, words) => {
    if (failure) fakes.outcome = failure;
    await expectFailure('fetch_media', { url }, words);
  });

  it('fails while the tools are updated', async () => {
    fakes.lease = { activity: 'Updating yt-dlp', owner: 'a', expiresAt: Number.MAX_SAFE_INTEGER } as never;
    const words = /^Getting ready\. The instance is updating its tools\. Try again in a few seconds\.$/;
    await expectFailure('fetch_media', { url: LINK }, words);
  });
});

const SUBTITLE = { id: 's1', formatId: 'subtitles:de', language: 'de', isAutomatic: false };

describe('get_transcript', () => {
  const subtitles = [
    SUBTITLE,
    { id: 's2', formatId: 'subtitles:pt-BR', language: 'pt-BR', isAutomatic: false },
    { id: 's3', formatId: 'captions:pt', language: 'pt', isAutomatic: true },
  ];
  beforeEach(() => {
    fakes.outcome = { type: 'Media', resource: { ...RESOURCE, subtitles } };
    fakes.cues = [
      { startMs: 0, endMs: 900, text: 'First\nSecond' },
      { startMs: 1000, endMs: 1900, text: 'Second\nThird' },
      { startMs: 1500, endMs: 1900, text: 'Third' },
      { startMs: 3_723_999, endMs: 3_800_000, text: 'Last' },
    ];
  });
  const transcript = async (language?: string) => {
    const { call } = await connect();
    return call('get_transcript', { url: LINK, language });
  };

  it('returns each line once, with its time', async () =>
    expect(await transcript('DE')).toMatchObject({
      isError: false,
      text: 'Title (de)\n\n[00:00:00] First Second\n[00:00:01] Third\n[01:02:03] Last',
    }));

  it.each([
    ['pt', 'Title (pt, by speech recognition)'],
    ['pt-PT', 'Title (pt-BR)'],
    ['pt-br', 'Title (pt-BR)'],
    [undefined, 'Title (pt, by speech recognition)'],
  ])('finds the subtitles for %s', async (language, head) =>
    expect((await transcript(language)).text.split('\n')[0]).toBe(head),
  );

  it('takes the language of the sound, else English, else the first one', async () => {
    const texts = subtitles.slice(0, 2).concat({ ...subtitles[0], id: 's4', language: 'en' } as never);
    const track = { formatId: '1', audio: {}, language: 'pt' } as Track;
    fakes.outcome = { type: 'Media', resource: { ...RESOURCE, subtitles: texts, tracks: [track] } };
    expect((await transcript()).text).toMatch(/^Title \(pt-BR\)/);
    fakes.outcome = { type: 'Media', resource: { ...RESOURCE, subtitles: texts } };
    expect((await transcript()).text).toMatch(/^Title \(en\)/);
    fakes.outcome = { type: 'Media', resource: { ...RESOURCE, subtitles: texts.slice(0, 2) } };
    expect((await transcript()).text).toMatch(/^Title \(de\)/);
  });

  it('fails in words where there are none, and for a list', async () => {
    const fails = (words: RegExp, more = {}) => expectFailure('get_transcript', { url: LINK, ...more }, words);
    await fails(/^Invalid parameter\. No subtitles in fr\. Available: de, pt-BR, pt\.$/, { language: 'fr' });
    fakes.outcome = { type: 'Media', resource: RESOURCE };
    await fails(/has no subtitles/);
    fakes.outcome = listOf([{}, {}]);
    await fails(/is a playlist/);
  });
});

describe('an answer that is too large', () => {
  it('leaves out the rest of a transcript, by its bytes', async () => {
    fakes.outcome = { type: 'Media', resource: { ...RESOURCE, subtitles: [SUBTITLE] } };
    fakes.cues = Array.from({ length: 400 }, (_, index) => ({
      startMs: index,
      endMs: index,
      text: `${index}${'あ'.repeat(1000)}`,
    }));
    const { call } = await connect();
    const { text } = await call('get_transcript', { url: LINK });
    expect(text).toMatch(/The rest is left out/);
    expect(Buffer.byteLength(text)).toBeLessThan(1_001_000);
  });

  it('is a failure in words where it is no text', async () => {
    fakes.outcome = { type: 'Media', resource: { ...RESOURCE, title: 'あ'.repeat(700_000) } };
    await expectFailure('fetch_media', { url: LINK }, /too large/);
  });
});

describe('search_media', () => {
  beforeEach(() => {
    fakes.search = true;
    fakes.outcome = listOf(Array.from({ length: 30 }, () => ({})));
  });

  it.each([
    [{ query: 'cats & dogs' }, 'https://www.youtube.com/results?search_query=cats%20%26%20dogs'],
    [{ query: 'a', site: 'youtube-music' }, 'https://music.youtube.com/search?q=a'],
    [{ query: 'a/b?', site: 'dailymotion' }, 'https://www.dailymotion.com/search/a%2Fb%3F/videos'],
    [{ query: 'a', site: 'niconico' }, 'https://www.nicovideo.jp/search/a'],
  ])('searches for %j', async (args, link) => {
    const { call } = await connect();
    const { data } = await call('search_media', args);
    expect((data as Media).items).toHaveLength(20);
    expect(fakes.resolves.map(({ url }) => url)).toEqual([link]);
  });

  it.each([{ query: ' ' }, { query: '' }, { query: 'a', site: 'unknown' }])('refuses %j', async (args) => {
    const { call } = await connect();
    expect(await call('search_media', args)).toMatchObject({ isError: true });
    expect(fakes.resolves).toEqual([]);
  });
});
