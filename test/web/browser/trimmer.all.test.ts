import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { probe } from '../../support/media-tools.ts';
import { downloadFrom, eventually, selectFormat, useBrowser } from '../fixtures/browser.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

const time = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const handle = (page: Page, name: string) => page.getByRole('slider', { name, exact: true });
const trimmer = (page: Page) => page.getByRole('button', { name: 'Clip', exact: true });
/** What the button says that it downloads. */
const selects = (page: Page) => eventually(() => page.getByRole('button', { name: /^Download \S/ }).textContent());

/** Opens a link and begins to select a part of it, as the sentence offers. */
async function trim(path: string, name: RegExp) {
  const opened = await open(service.baseUrl + service.pageFor(path), { reusePage: true });
  const { page } = opened;
  await selectFormat(page, name);
  await trimmer(page).click();
  await handle(page, 'End').waitFor();
  return opened;
}

/** Downloads the part. Returns its name and what ffprobe says of it. */
async function download(page: Page) {
  const file = await downloadFrom(page.getByRole('button', { name: /^Download \S/ }));
  const { durationSeconds, streams } = await probe(await file.path());
  return { name: file.suggestedFilename(), durationSeconds, types: streams.map(({ type }) => type) };
}

describe('the trimmer', () => {
  it.each([
    ['a pair', '/site/open/clipped', /^720p/, '.mp4', ['video', 'audio']],
    ['a single file', '/site/combined/clipped', /^360p/, '.mp4', ['video', 'audio']],
    // The cover is a stream for FFmpeg.
    ['an MP3 conversion', '/site/music/clipped', /^192 kbps.*MP3/, '.mp3', ['audio', 'video']],
  ])('downloads a part of %s', async (_, path, name, extension, types) => {
    const { page, requests } = await trim(path, name);
    await time(page, 'Start').fill('0:01.5');
    await time(page, 'End').fill('4');
    await selects(page).toMatch(/ 0:01\.5–0:04 /);
    const got = await download(page);
    expect(got.name.endsWith(` 0-01.5–0-04)${extension}`), got.name).toBe(true);
    expect(Math.abs(got.durationSeconds - 2.5)).toBeLessThan(0.1);
    expect(got.types).toEqual(types);
    expect(requests.some((request) => /\/api\/Stream\/Media\/.*start=1\.5&end=4$/.test(request.url()))).toBe(true);
  });

  it('moves its handles by keyboard, a second at a time, and never past each other', async () => {
    const { page } = await trim('/site/combined/keyboard', /^360p/);
    await page.locator('video').evaluate((video) => (video as HTMLVideoElement).pause());
    await handle(page, 'Start').focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await selects(page).toMatch(/ 0:03–0:08 /);
    await eventually(() => time(page, 'Start').inputValue()).toBe('0:03');
    // The player shows what a handle is at.
    await eventually(() => page.locator('video').evaluate((video) => (video as HTMLVideoElement).currentTime)).toBe(3);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Home');
    await selects(page).toMatch(/ 0:03–0:04 /);
    await eventually(() => handle(page, 'End').getAttribute('aria-valuetext')).toBe('0:04');
    await handle(page, 'Start').focus();
    await page.keyboard.press('End');
    await selects(page).toMatch(/ 0:03–0:04 /);
  });

  it('moves its handles by pointer', async () => {
    const { page } = await trim('/site/combined/pointer', /^360p/);
    const { x = 0, y = 0, width = 0, height = 0 } = (await handle(page, 'Start').boundingBox()) ?? {};
    for (const [from, to] of [
      [12, width / 2],
      [width - 12, (width * 3) / 4],
    ] as const) {
      await page.mouse.move(x + from, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + to, y + height / 2, { steps: 4 });
      await page.mouse.up();
    }
    await selects(page).toMatch(/ 0:04–0:06 /);
  });

  it('explains invalid times, and keeps the last valid ones', async () => {
    const { page } = await trim('/site/combined/senseless', /^360p/);
    await time(page, 'End').fill('5');
    for (const [name, text] of [
      ['Start', 'x'],
      ['Start', '5'],
      ['End', '0'],
      ['End', '1:'],
      ['End', '1:00:00'],
    ] as const) {
      const before = await time(page, name).inputValue();
      await time(page, name).fill(text);
      await page.getByRole('alert').getByText('Enter times such as 1:05').waitFor();
      expect(await time(page, name).getAttribute('aria-invalid')).toBe('true');
      await selects(page).toMatch(/ 0:00–0:05 /);
      await time(page, name).fill(before);
      await page.getByText('Enter times such as 1:05').waitFor({ state: 'detached' });
    }
  });

  it('ends with its button and with the player', async () => {
    const { page } = await trim('/site/combined/ended', /^360p/);
    await selects(page).toMatch(/ 0:00–0:08 /);
    await trimmer(page).click();
    await handle(page, 'End').waitFor({ state: 'detached' });
    await selects(page).toMatch(/^Download 360p ·/);
    await trimmer(page).click();
    await page.getByRole('button', { name: 'Close the player' }).click();
    await selects(page).toMatch(/^Download 360p ·/);
  });

  it('plays its part alone, and from its start again', async () => {
    const { page } = await trim('/site/combined/bounded', /^360p/);
    const video = page.locator('video');
    const seconds = () => video.evaluate((media) => (media as HTMLVideoElement).currentTime);
    const isPaused = () => video.evaluate((media) => (media as HTMLVideoElement).paused);
    await time(page, 'End').fill('2');
    await time(page, 'Start').fill('1');
    await video.evaluate((media) => void (media as HTMLVideoElement).play());
    await eventually(async () => (await isPaused()) && (await seconds()) >= 2).toBe(true);
    await video.evaluate((media) => {
      const played = media as HTMLVideoElement;
      played.onseeked = () => Object.assign(globalThis, { sought: played.currentTime });
      return played.play();
    });
    await eventually(() => page.evaluate(() => (globalThis as unknown as { sought?: number }).sought)).toBeCloseTo(
      1,
      1,
    );
  });

  it('is not offered for a stream without ranges', async () => {
    const { page } = await open(service.baseUrl + service.pageFor('/hls/fields/index.m3u8'), { reusePage: true });
    await page.getByText(/No seeking/).waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.locator('video').waitFor();
    expect(await trimmer(page).count()).toBe(0);
  });
});
