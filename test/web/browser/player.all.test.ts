import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { SECONDS } from '../../origin/recipes.ts';
import { itInChromium as it } from '../../support/chromium.ts';
import { runProgram } from '../../support/media-tools.ts';
import { downloadFrom, eventually, menuOf, selectFormat, useBrowser } from '../fixtures/browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const proxy = useFaultProxy(() => service.baseUrl);
const { open } = useBrowser();

/** Opens a link, selects a rendition by its label and plays it. */
async function play(path: string, version?: RegExp, baseUrl = service.baseUrl) {
  const visitor = await open(baseUrl + service.pageFor(path));
  const { page } = visitor;
  await page.getByRole('article').waitFor();
  if (version) await selectFormat(page, version);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await playsOnFrom(page, 0);
  return visitor;
}

const element = (page: Page) => page.locator('video, audio');
const clock = (page: Page) => element(page).evaluate((media) => (media as HTMLMediaElement).currentTime);
const playsOnFrom = (page: Page, seconds: number) => eventually(() => clock(page)).toBeGreaterThan(seconds);

/** Seeks to a second. @returns the resulting position */
const seek = (page: Page, seconds: number) =>
  element(page).evaluate(
    (media, place) =>
      new Promise<number>((resolve) => {
        const player = media as HTMLMediaElement;
        player.addEventListener('seeked', () => resolve(player.currentTime), { once: true });
        player.currentTime = place;
      }),
    seconds,
  );

const traits = (page: Page) =>
  element(page).evaluate((media) => {
    const { duration, videoHeight, error, paused } = media as HTMLVideoElement;
    return { duration, videoHeight, error, paused };
  });

/** First byte positions of the 206 responses, in order. The browser may report a response after the media has used it. */
async function partsOf(page: Page, act: () => Promise<unknown>): Promise<number[]> {
  const parts: number[] = [];
  page.on('response', (response) => {
    const [, first] = /^bytes (\d+)-/.exec(response.headers()['content-range'] ?? '') ?? [];
    if (response.status() === 206 && first) parts.push(Number(first));
  });
  await act();
  return parts;
}

describe('player', () => {
  it('goes back in a live stream to the oldest segment that is available', async () => {
    const { page } = await play('/live/index.m3u8');
    await page.getByRole('button', { name: 'Go back' }).click();
    await eventually(() => element(page).evaluate((media) => (media as HTMLMediaElement).seekable.length)).toBe(1);
    const held = await element(page).evaluate((media) => {
      const { seekable } = media as HTMLMediaElement;
      return { start: seekable.start(0), end: seekable.end(0) };
    });
    expect(held.end - held.start).toBeGreaterThan(5);
    const place = held.start + 2;
    expect(await seek(page, place)).toBeCloseTo(place, 0);
    await playsOnFrom(page, place);
    expect(await element(page).evaluate((media) => (media as HTMLMediaElement).controls)).toBe(true);
    await page.getByRole('button', { name: 'Back to live' }).click();
    await eventually(() => element(page).getAttribute('src')).toMatch(/\/Stream\/Media\//);
    await playsOnFrom(page, 0);
  });

  it('seeks a playing video and requests only the range it needs', async () => {
    const { page } = await play('/files/long.mp4');
    expect((await traits(page)).duration).toBeCloseTo(SECONDS.long, 0);
    const parts = await partsOf(page, async () => {
      expect(await seek(page, 240)).toBeCloseTo(240, 0);
      await playsOnFrom(page, 240);
    });
    await eventually(() => Math.max(...parts)).toBeGreaterThan(100_000);
    // Seeking back keeps playing.
    expect(await seek(page, 10)).toBeCloseTo(10, 0);
    await playsOnFrom(page, 10);
    expect(await traits(page)).toMatchObject({ paused: false, error: null });
  });

  it('seeks in a list of segments', async () => {
    const { page } = await play('/hls/fmp4/index.m3u8');
    expect((await traits(page)).duration).toBeCloseTo(SECONDS.clip, 0);
    expect(await seek(page, 4)).toBeCloseTo(4, 0);
    await playsOnFrom(page, 4);
    expect(await seek(page, 1)).toBeCloseTo(1, 0);
    await playsOnFrom(page, 1);
    expect(await element(page).evaluate((media) => (media as HTMLMediaElement).controls)).toBe(true);
  });

  it('seeks an MP3 conversion', async () => {
    const { page } = await play('/files/long.mp4', /^192 kbps.*MP3/);
    expect(await page.locator('audio').count()).toBe(1);
    expect((await traits(page)).duration).toBeCloseTo(SECONDS.long, 0);
    const parts = await partsOf(page, async () => {
      expect(await seek(page, 250)).toBeCloseTo(250, 0);
      await playsOnFrom(page, 250);
    });
    await eventually(() => Math.max(...parts)).toBeGreaterThan(100_000);
  });

  it('plays and seeks a pair with its full duration', async () => {
    const { page, requests } = await play('/site/open/combined', /^720p/);
    const { duration, videoHeight, error } = await traits(page);
    expect(duration).toBeCloseTo(SECONDS.ladder, 0);
    expect([videoHeight, error]).toEqual([720, null]);
    await playsOnFrom(page, 1);
    expect(await seek(page, 6)).toBeCloseTo(6, 0);
    await playsOnFrom(page, 6);
    expect(requests.filter((request) => request.url().includes('/api/Stream/Combined/'))).toEqual([]);
  });

  it.each([
    ['by the browser', true, /\/Stream\/Hls\/.*\/master\.m3u8$/],
    ['by a library', false, /^blob:/],
  ])('seeks in the playlists of what does not play as a file, %s', async (_, playsHls, source) => {
    const { page, requests } = await open('about:blank');
    if (!playsHls)
      await page.addInitScript(() => {
        const { canPlayType } = HTMLMediaElement.prototype;
        HTMLMediaElement.prototype.canPlayType = function (type) {
          return type.includes('mpegurl') ? '' : canPlayType.call(this, type);
        };
      });
    await page.route('**/api/Stream/Media/**', (route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ body: 'No media', contentType: 'video/mp4' })
        : route.continue(),
    );
    await page.goto(service.baseUrl + service.pageFor('/site/open/playlists'));
    await selectFormat(page, /^720p/);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await playsOnFrom(page, 0);
    expect(await element(page).evaluate((media) => (media as HTMLMediaElement).currentSrc)).toMatch(source);
    expect((await traits(page)).duration).toBeCloseTo(SECONDS.ladder, 0);
    expect(await seek(page, 6)).toBeCloseTo(6, 0);
    await playsOnFrom(page, 6);
    expect(requests.some((request) => /\/assets\/hls/.test(request.url()))).toBe(!playsHls);
  });

  it('takes the height of an upright video, up to most of the window', async () => {
    const { page } = await open('about:blank', { viewport: { width: 1280, height: 1000 } });
    await page.addInitScript(() => {
      Object.defineProperty(HTMLVideoElement.prototype, 'videoWidth', { get: () => 90 });
      Object.defineProperty(HTMLVideoElement.prototype, 'videoHeight', { get: () => 160 });
    });
    await page.goto(service.baseUrl + service.pageFor('/site/combined/upright'));
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(async () => (await page.locator('.media-stage.playing').boundingBox())?.height).toBeCloseTo(
      800,
      0,
    );
  });

  it('plays audio next to its cover, with media controls of the system', async () => {
    const { page } = await play('/site/music/song');
    const playing = () => page.evaluate(() => navigator.mediaSession.metadata?.artist);
    await eventually(playing).toBe('Ada Example');
    expect(await page.locator('audio').count()).toBe(1);
    await eventually(() =>
      page.$eval('.player-audio img', (cover) => (cover as HTMLImageElement).naturalWidth),
    ).toBeGreaterThan(100);
  });

  it('switches renditions and removes the element when closed', async () => {
    const { page } = await play('/site/combined/closed', /^720p/);
    await selectFormat(page, /^360p/);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(async () => (await traits(page)).videoHeight).toBe(360);
    await page.getByRole('button', { name: 'Close the player' }).click();
    await page.getByRole('button', { name: /^Play Größe/ }).waitFor();
    await element(page).waitFor({ state: 'detached' });
  });

  it('continues in a corner while another link is opened, and returns to its page', async () => {
    const { page } = await play('/files/long.mp4');
    const first = await element(page).elementHandle();
    const before = await clock(page);
    await page.getByRole('textbox').first().fill(service.origin.url('/site/combined/meanwhile'));
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: /meanwhile/ }).waitFor();
    const mini = page.getByRole('complementary', { name: /^Player: / });
    await mini.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await playsOnFrom(page, before);
    await eventually(() => first?.evaluate((media) => media.isConnected && !(media as HTMLMediaElement).paused)).toBe(
      true,
    );
    await mini.getByRole('button', { name: 'Pause', exact: true }).click();
    expect(await traits(page)).toMatchObject({ paused: true });
    await mini.getByRole('button', { name: 'Play', exact: true }).click();
    await mini.getByRole('link').click();
    await page.locator('article video').waitFor();
    expect(await first?.evaluate((media) => media.closest('article') !== null)).toBe(true);
    // An element that moves pauses, until the page lets it continue.
    await eventually(() => traits(page)).toMatchObject({ paused: false, error: null });
    await playsOnFrom(page, await clock(page));
    await page.getByRole('button', { name: 'Close the player' }).click();
    await eventually(() => element(page).count()).toBe(0);
  });

  it('shows that a stream cannot be sought before the user tries', async () => {
    const { page } = await open(service.baseUrl + service.pageFor('/hls/fields/index.m3u8'));
    await page.getByText(/No seeking/).waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.getByText('You can’t skip in this format.').waitFor();
    expect(await element(page).evaluate((media) => (media as HTMLMediaElement).controls)).toBe(true);
    expect(await page.locator('.player.unseekable').count()).toBe(1);
    expect(await page.getByRole('combobox', { name: 'Chapter' }).count()).toBe(0);
  });

  it('offers subtitles, and shows details with chapters that it seeks to', async () => {
    const { page } = await play('/site/detailed/one', /^360p/);
    const tracks = page.locator('video track');
    await eventually(() => tracks.count()).toBeGreaterThan(0);
    const cues = await tracks.first().evaluate(async (element) => {
      const { track } = element as HTMLTrackElement;
      const loaded = new Promise((resolve) => element.addEventListener('load', resolve, { once: true }));
      track.mode = 'showing';
      await loaded;
      return track.cues?.length;
    });
    expect(cues).toBeGreaterThan(0);
    await page.getByText('Details', { exact: true }).click();
    await page.getByRole('heading', { name: 'Chapters' }).waitFor();
    await page.locator('.chapters button').last().click();
    await eventually(() => clock(page)).toBeGreaterThan(1);
    const menu = page.getByRole('combobox', { name: 'Chapter' });
    const names = await menu.getByRole('option').allTextContents();
    expect(names.length).toBeGreaterThan(1);
    // The first chapter has two seconds: it must not end while it is looked at.
    await element(page).evaluate((media) => (media as HTMLMediaElement).pause());
    await menu.selectOption(names[0] ?? '');
    await eventually(() => clock(page)).toBeLessThan(1);
    await eventually(() => menu.evaluate((select) => (select as HTMLSelectElement).value)).toBe('0');
    const file = await downloadFrom(page.locator('.subtitles a').filter({ hasText: '.srt' }).first());
    expect(file.suggestedFilename()).toMatch(/\.srt$/);
    await page.getByRole('button', { name: 'Close the player' }).click();
    await page
      .getByText(/^Length: 0:0\d$/)
      .first()
      .waitFor({ state: 'attached' });
    const cover = await downloadFrom(page.getByRole('link', { name: 'Download cover' }));
    expect(cover.suggestedFilename()).toMatch(/\.jpg$/);
  });

  it('continues in another language at the position that is played', async () => {
    const { page } = await play('/site/dubbed/languages');
    await element(page).evaluate((media) => (media as HTMLMediaElement).pause());
    await seek(page, 2);
    const original = await element(page).getAttribute('src');
    await menuOf(page, 'Sound language').selectOption('German (dubbed)');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await eventually(() => element(page).getAttribute('src')).toBe(`${original}?audio=de`);
    await playsOnFrom(page, 2);
    expect(await traits(page)).toMatchObject({ error: null });
  });

  it('downloads one chapter, or each as a file in a ZIP', async () => {
    const { page } = await open(service.baseUrl + service.pageFor('/site/detailed/chapters'));
    await selectFormat(page, /^360p/);
    await page.getByText('Details', { exact: true }).click();
    const download = async (name: string) => {
      const file = await downloadFrom(page.getByRole('button', { name }));
      return file;
    };
    const chapter = await download('Download End');
    expect(chapter.suggestedFilename()).toMatch(/End.*\.mp4$/);
    expect(new URL(chapter.url()).searchParams.get('chapter')).toBe('2');
    await page.getByText('Download started. See your browser’s downloads.').waitFor();
    const all = await download('Download each chapter (ZIP)');
    expect(all.suggestedFilename()).toMatch(/\.zip$/);
    const { output } = await runProgram('unzip', ['-l', await all.path()]);
    expect(output.match(/\.mp4$/gm)).toHaveLength(2);
    await menuOf(page, 'Video or sound').selectOption('Sound');
    await selectFormat(page, /^192 kbps/);
    const sound = await download('Download each chapter (ZIP)');
    expect(new URL(sound.url()).search).toBe('?quality=mp3&tags=true&format=zip');
  });

  it('waits for Retry-After with a countdown and resumes at the same position', async () => {
    const { page } = await play('/files/long.mp4', undefined, proxy.baseUrl);
    proxy.refuse('/api/Stream/', { status: 429, title: 'Too Many Requests', retryAfter: 3 });
    await element(page).evaluate((media) => {
      (media as HTMLMediaElement).currentTime = 240;
    });
    await page.getByRole('alert').getByText('Too many requests').waitFor();
    await page.getByText(/^Retrying in \d s$/).waitFor();
    proxy.refuse('/api/Stream/');
    await eventually(() => page.getByRole('alert').getByText('Too many requests').count()).toBe(0);
    await playsOnFrom(page, 240);
    expect(await traits(page)).toMatchObject({ paused: false, error: null });
  });

  it('explains why playback failed and retries', async () => {
    const { page } = await open(service.baseUrl + service.pageFor('/site/combined/gone'));
    await page.getByRole('article').waitFor();
    await page.route('**/api/Stream/**', (route) =>
      route.continue({ url: `${service.baseUrl}/api/Stream/Media/gone` }),
    );
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.getByRole('alert').getByText('Link expired').waitFor();
    await page.unroute('**/api/Stream/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await playsOnFrom(page, 0);
    expect(await page.getByRole('alert').getByText('Link expired').count()).toBe(0);
  });
});
