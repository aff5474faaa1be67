import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../core/config/index.ts';
import { useSite } from '../use-site.ts';
import { createYoutube, watchUrl } from './youtube.ts';

/** The site demands a sign-in of a session that several clients have used, and serves one that only VISIONOS has used. */
const REFUSED_TO_SEVERAL = watchUrl('signinfirst');
const REFUSED_TO_ALL = watchUrl('botcheckbot');

const start = async (settings: Partial<Settings> = {}) => useSite(await createYoutube(), { settings });
const fallsBack = await start();
const blocked = await start();
const off = await start({ youtubeFallbackClient: 'off' });
const asRule = await start({ ytDlpExtractorArgs: ['youtube:player_client=visionos'] });

/** The clients by which the service has asked for a video, in order. */
const clientsOf = (site: typeof off, link: string): string[] =>
  site
    .serviceRequests()
    .filter(({ url, body }) => url.pathname.endsWith('/player') && body.includes(link.slice(-11)))
    .map(({ body }) => JSON.parse(body).context.client.clientName);

describe('YouTube that wants a sign-in', () => {
  it('refuses the clients that yt-dlp chooses, and answers VISIONOS alone', async () => {
    const asUsual = await off.download([REFUSED_TO_SEVERAL]);
    expect(asUsual.get(REFUSED_TO_SEVERAL)?.errors.join(), 'yt-dlp has changed').toMatch(/confirm you’re not a bot/);
    const args = ['--extractor-args', 'youtube:player_client=visionos'];
    const alone = await off.download([REFUSED_TO_SEVERAL], args);
    expect(alone.get(REFUSED_TO_SEVERAL)?.errors).toEqual([]);
  });

  it('is asked once more, and what it then offers is streamed', async () => {
    const { status, body } = await fallsBack.resolve(REFUSED_TO_SEVERAL);
    expect(status).toBe(200);
    expect(clientsOf(fallsBack, REFUSED_TO_SEVERAL).at(-1)).toBe('VISIONOS');
    const { bestQualityKey, urlType } = body.mediaItems[0]?.video ?? {};
    expect((await fallsBack.get(`/api/Stream/${urlType}/${bestQualityKey}`)).status).toBe(200);
  });

  it('is not asked again within the hour where it refuses that too', async () => {
    expect(await blocked.resolve(REFUSED_TO_ALL)).toMatchObject({ status: 415, body: { type: '/problems/bot-check' } });
    const first = clientsOf(blocked, REFUSED_TO_ALL).length;
    await blocked.resolve(REFUSED_TO_ALL);
    expect(clientsOf(blocked, REFUSED_TO_ALL)).toHaveLength(2 * first - 1);
    expect((await blocked.resolve(REFUSED_TO_SEVERAL)).status).toBe(415);
  });

  it('is not asked again where that is switched off', async () => {
    expect((await off.resolve(REFUSED_TO_SEVERAL)).status).toBe(415);
  });

  it('is asked by the client that the operator names alone', async () => {
    expect((await asRule.resolve(REFUSED_TO_SEVERAL)).status).toBe(200);
    await asRule.resolve(REFUSED_TO_ALL);
    expect(clientsOf(asRule, REFUSED_TO_ALL)).toEqual(['VISIONOS']);
  });
});
