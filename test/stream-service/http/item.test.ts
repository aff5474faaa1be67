import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAccessControl } from '../../../core/http/client.ts';
import { keyOf, subtitleId } from '../../../core/state/keys.ts';
import { mediaKey, resourceOf, startService, trackOf } from '../fixture.ts';

const HASH = createHash('sha256').update('an-access-key').digest('hex');
const french = { language: 'fr', isAutomatic: false };
const resource = resourceOf([trackOf('video')], {
  durationSeconds: 61.5,
  coverUrl: 'https://site.example/cover.jpg',
  subtitles: [{ id: subtitleId(french), formatId: 'fr', ...french }],
});
const subtitleKey = keyOf(resource.id, subtitleId(french));
const ITEM = {
  title: 'A clip',
  author: 'Someone',
  durationSeconds: 61.5,
  isLive: false,
  hasCover: true,
  mimeType: 'video/mp4',
  subtitles: [{ key: subtitleKey, language: 'fr', name: null, isAutomatic: false }],
};

const service = await startService(resource, {}, { corsAllowedOrigins: ['https://page.example'] });
const get = (key: string, init: RequestInit = {}) => fetch(`${service.url}/api/Stream/Item/${key}`, init);

describe('GET /api/Stream/Item/{key}', () => {
  it('describes the item of a rendition without opening a source, and extends its expiry', async () => {
    const response = await get(mediaKey('video'), { headers: { origin: 'https://page.example' } });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'Origin, Accept',
      'access-control-allow-origin': 'https://page.example',
    });
    expect(await response.json()).toEqual(ITEM);
    expect(service.touched).toContain(resource.id);
  });

  it('answers HEAD with the head of GET', async () => {
    const [whole, head] = await Promise.all([get(mediaKey('video')), get(mediaKey('video'), { method: 'HEAD' })]);
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(String((await whole.arrayBuffer()).byteLength));
  });

  it('signs the keys of subtitles where the instance is private', async () => {
    const response = await get(mediaKey('video'), { headers: { 'x-reelay-access': HASH } });
    const { subtitles } = (await response.json()) as typeof ITEM;
    const signed = subtitles[0]?.key ?? '';
    expect(signed.split('.')[0]).toBe(subtitleKey);
    expect(createAccessControl([HASH]).verify(signed)).toEqual({ hash: HASH, key: subtitleKey });
  });

  it('answers 404 for unknown and malformed keys, and for those of subtitles', async () => {
    for (const key of [mediaKey('other'), 'nothing', subtitleKey]) {
      const response = await get(key);
      expect([response.status, await response.json()]).toEqual([404, expect.objectContaining({ status: 404 })]);
    }
  });

  it('answers 405 to other methods', async () => {
    const response = await get(mediaKey('video'), { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});
