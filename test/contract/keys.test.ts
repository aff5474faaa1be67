import { beforeAll, describe, expect, it } from 'vitest';
import type { MediaInformation } from '../../lambdas/api/resource-information.ts';
import { expectProblem } from './api-document.ts';
import { itemOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();

const keysOf = ({ video, audio }: MediaInformation) =>
  [video, audio].flatMap((side) => side?.renditions.map(({ key }) => key ?? '') ?? []);

let media = '';
let combined = '';
let sound = '';
beforeAll(async () => {
  media = keysOf(await itemOf(target, '/files/clip.mp4'))[0] ?? '';
  const item = await itemOf(target, '/site/open/keys');
  combined = item.video?.bestQualityKey ?? '';
  sound = item.audio?.bestQualityKey ?? '';
});

describe('keys', () => {
  it('are URL-safe and of one length, at most 64', async () => {
    const keys = (
      await Promise.all(['/site/open/a', '/site/combined/b', '/hls/master.m3u8'].map((link) => itemOf(target, link)))
    ).flatMap(keysOf);
    for (const key of keys) expect(key).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(keys.map(({ length }) => length)).size).toBe(1);
  });

  it('are the same every time a link is resolved, however it is written', async () => {
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

  it('differ between renditions and between resources; only the conversion shares one', async () => {
    const keys = keysOf(await itemOf(target, '/site/open/a'));
    expect(new Set(keys).size).toBe(keys.length - 1);
    const others = keysOf(await itemOf(target, '/site/open/other'));
    expect(others.filter((key) => keys.includes(key))).toEqual([]);
  });
});

describe('a key that opens nothing here is 404', () => {
  const swapCase = (key: string) =>
    key.replace(/[a-z]/i, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
  it.each<[string, () => string]>([
    ['unknown', () => `/api/Stream/Media/${'A'.repeat(media.length)}`],
    ['unknown on Combined', () => `/api/Stream/Combined/${'A'.repeat(media.length)}`],
    ['another rendition of a known resource', () => `/api/Stream/Media/${media.slice(0, -3)}AAA`],
    ['too short', () => `/api/Stream/Media/${media.slice(0, -1)}`],
    ['too long', () => `/api/Stream/Media/${media}A`],
    ['with a dot', () => `/api/Stream/Media/${media}.mp4`],
    ['in another case', () => `/api/Stream/Media/${swapCase(media)}`],
    ['with a space', () => `/api/Stream/Media/${media}%20`],
    ['foreign', () => '/api/Stream/Media/dQw4w9WgXcQ'],
    ['half of one and half of another', () => `/api/Stream/Media/${media.slice(0, 22)}${combined.slice(22)}`],
    ['Combined on Media', () => `/api/Stream/Media/${combined}`],
    ['Combined on Media as MP3', () => `/api/Stream/Media/${combined}?format=mp3`],
    ['Media on Combined', () => `/api/Stream/Combined/${media}`],
    ['sound on Combined', () => `/api/Stream/Combined/${sound}`],
  ])('%s', async (_, path) => {
    const answer = await target.get(path());
    expect(answer.status).toBe(404);
    expectProblem(404, JSON.parse(answer.body.toString()));
    expect((await target.get(path(), { method: 'HEAD' })).status).toBe(404);
  });
});

describe('format', () => {
  it.each(['format=ogg', 'format=', 'format=mp3x', 'Format', 'other=mp3'])('%s is ignored', async (query) => {
    const plain = await target.get(`/api/Stream/Media/${media}`);
    const asked = await target.get(`/api/Stream/Media/${media}?${query}`);
    expect(asked.headers['content-type']).toBe('video/mp4');
    expect(asked.body.equals(plain.body)).toBe(true);
  });

  it('is ignored where nothing can be heard', async () => {
    const { video } = await itemOf(target, '/files/silent.mp4');
    const { status, headers } = await target.get(`/api/Stream/Media/${video?.bestQualityKey}?format=mp3`);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('video/mp4');
  });

  it.each(['mp3', 'MP3', 'Mp3'])('%s is a conversion', async (format) => {
    const { headers } = await target.get(`/api/Stream/Media/${media}?format=${format}`, { method: 'HEAD' });
    expect(headers['content-type']).toBe('audio/mpeg');
  });
});
