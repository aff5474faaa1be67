import { describe, expect, it } from 'vitest';
import { useTarget } from './target.ts';

const target = useTarget();
const get = (path: string, more = '') =>
  target.get(`/api/Get?url=${encodeURIComponent(target.origin.url(path))}${more}`);

describe('GET /api/Get', () => {
  it('redirects to the same bytes as the key of GetResource', async () => {
    const { resource } = await target.resolve('/site/combined/one-shot');
    const { status, headers } = await get('/site/combined/one-shot');
    expect([status, headers.location]).toEqual([
      302,
      `/api/Stream/Media/${resource.mediaItems[0]?.video?.bestQualityKey}`,
    ]);
    const [whole, direct] = await Promise.all([
      target.get(headers.location ?? ''),
      target.get(`/api/Stream/Media/${resource.mediaItems[0]?.video?.bestQualityKey}`),
    ]);
    expect(whole.status).toBe(200);
    expect(whole.body.equals(direct.body)).toBe(true);
  });

  it('streams the conversion as MP3', async () => {
    const { headers } = await get('/site/combined/one-shot', '&quality=mp3&start=0&end=1');
    const clip = await target.get(headers.location ?? '');
    expect([clip.status, clip.headers['content-type']]).toEqual([200, 'audio/mpeg']);
  });

  it('answers failures as GetResource does, and 405 to HEAD', async () => {
    expect((await get('/site/drm/one-shot')).status).toBe(415);
    expect((await get('/site/combined/one-shot', '&quality=none')).status).toBe(400);
    expect((await target.get('/api/Get?url=x', { method: 'HEAD' })).status).toBe(405);
  });
});
