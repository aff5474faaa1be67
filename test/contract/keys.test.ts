import { beforeAll, describe, expect, it } from 'vitest';
import type { MediaInformation } from '../../clients/reelay-client/src/api-types.ts';
import { inspect } from '../support/media-tools.ts';
import { expectFailure } from './api-document.ts';
import { itemOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();

const keysOf = ({ video, audio }: MediaInformation) =>
  [video, audio].flatMap((side) => side?.renditions.map(({ key }) => key ?? '') ?? []);

let media = '';
let combined = '';
beforeAll(async () => {
  media = keysOf(await itemOf(target, '/files/clip.mp4'))[0] ?? '';
  const item = await itemOf(target, '/site/open/keys');
  combined = item.video?.bestQualityKey ?? '';
});

describe('keys', () => {
  it('are URL-safe and of one length, at most 64', async () => {
    const keys = (
      await Promise.all(['/site/open/a', '/site/combined/b', '/hls/master.m3u8'].map((link) => itemOf(target, link)))
    ).flatMap(keysOf);
    for (const key of keys) expect(key).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(keys.map(({ length }) => length)).size).toBe(1);
  });

  it('are the same for every resolve and spelling of a link', async () => {
    const { host } = target.origin;
    const keys = keysOf(await itemOf(target, '/site/open/stable'));
    for (const link of [
      `http://${host}/site/open/stable`,
      `HTTP://${host}/site/open/stable`,
      `http://${host}/site/open/stable#there`,
      `http://user@${host}/site/open/../open/stable`,
    ]) {
      expect(keysOf(await itemOf(target, link)), link).toEqual(keys);
    }
  });

  it('differ between renditions and resources, except for conversions', async () => {
    const keys = keysOf(await itemOf(target, '/site/open/a'));
    expect(new Set(keys).size).toBe(keys.length - 1);
    const others = keysOf(await itemOf(target, '/site/open/other'));
    expect(others.filter((key) => keys.includes(key))).toEqual([]);
  });
});

// Unknown ones of each kind of stream: http.test.ts.
describe('invalid key: 404', () => {
  const swapCase = (key: string) =>
    key.replace(/[a-z]/i, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
  it.each<[string, () => string]>([
    ['another rendition of a known resource', () => `/api/Stream/Media/${media.slice(0, -3)}AAA`],
    ['too short', () => `/api/Stream/Media/${media.slice(0, -1)}`],
    ['too long', () => `/api/Stream/Media/${media}A`],
    ['with a dot', () => `/api/Stream/Media/${media}.mp4`],
    ['in another case', () => `/api/Stream/Media/${swapCase(media)}`],
    ['foreign', () => '/api/Stream/Media/dQw4w9WgXcQ'],
    ['half of one and half of another', () => `/api/Stream/Media/${media.slice(0, 22)}${combined.slice(22)}`],
  ])('%s', async (_, path) => {
    expectFailure(await target.get(path()), 404);
    expect((await target.get(path(), { method: 'HEAD' })).status).toBe(404);
  });
});

describe('key on the endpoint of the other type', () => {
  it('streams a file from the beginning, without ranges', async () => {
    const { status, headers, body } = await target.get(`/api/Stream/Combined/${media}`, {
      headers: { range: 'bytes=0-99' },
    });
    expect([status, headers]).toMatchObject([
      200,
      { 'content-type': 'video/mp4', 'accept-ranges': 'none', 'cache-control': 'no-store' },
    ]);
    expect(headers).not.toHaveProperty('etag');
    expect(body.equals((await target.get(`/api/Stream/Media/${media}`)).body)).toBe(true);
  });

  it.each([
    ['muxed', '', 'video/mp4', ['h264', 'aac']],
    ['as the MP3 of its audio', '?format=mp3', 'audio/mpeg', ['mp3']],
  ])('streams a pair %s', async (_, query, type, expected) => {
    const { status, headers, body } = await target.get(`/api/Stream/Media/${combined}${query}`);
    expect([status, headers['content-type'], headers['content-length']]).toEqual([200, type, String(body.length)]);
    const { codecs, complaints } = await inspect(body, query ? '.mp3' : '.mp4');
    expect([codecs, complaints]).toEqual([expected, '']);
  });

  it('streams best, medium and worst of a list on the endpoint of its urlType', async () => {
    for (const { video, audio } of await Promise.all(
      ['/site/mixed/keys', '/site/open/keys'].map((link) => itemOf(target, link)),
    ))
      for (const side of [video, audio])
        for (const key of [side?.bestQualityKey, side?.mediumQualityKey, side?.worstQualityKey])
          expect((await target.get(`/api/Stream/${side?.urlType}/${key}`, { method: 'HEAD' })).status).toBe(200);
  });
});

describe('parameter format', () => {
  it.each(['format=ogg', 'Format=mp3', 'other=mp3'])('ignores %s', async (query) => {
    const plain = await target.get(`/api/Stream/Media/${media}`);
    const asked = await target.get(`/api/Stream/Media/${media}?${query}`);
    expect(asked.headers['content-type']).toBe('video/mp4');
    expect(asked.body.equals(plain.body)).toBe(true);
  });

  it('is ignored without audio', async () => {
    const { video } = await itemOf(target, '/files/silent.mp4');
    const { status, headers } = await target.get(`/api/Stream/Media/${video?.bestQualityKey}?format=mp3`);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('video/mp4');
  });

  it('is accepted in any case', async () => {
    const { headers } = await target.get(`/api/Stream/Media/${media}?format=Mp3`, { method: 'HEAD' });
    expect(headers['content-type']).toBe('audio/mpeg');
  });
});
