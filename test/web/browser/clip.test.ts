import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { probe } from '../../support/media-tools.ts';
import { eventually, selectFormat, useBrowser } from '../fixtures/browser.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

/** Opens a link, plays a rendition and opens the clip editor. */
async function edit(path: string, name: RegExp) {
  const opened = await open(service.baseUrl + service.pageFor(path));
  const { page } = opened;
  await page.getByRole('article').waitFor();
  await selectFormat(page, name);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.getByRole('button', { name: 'Cut a clip' }).waitFor();
  await eventually(() =>
    page.locator('video, audio').evaluate((media) => (media as HTMLMediaElement).duration > 1),
  ).toBe(true);
  return opened;
}

const input = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const submit = (page: Page) => page.getByRole('button', { name: /^Download clip/ });

/** Downloads the clip. Returns its name and what ffprobe says of it. */
async function download(page: Page, act: () => Promise<void>) {
  const coming = page.waitForEvent('download');
  await act();
  const file = await coming;
  const { durationSeconds, streams } = await probe(await file.path());
  return { name: file.suggestedFilename(), durationSeconds, types: streams.map(({ type }) => type) };
}

describe('clip editor', () => {
  it.each([
    ['a pair', '/site/open/clipped', /^720p/, '.mp4', ['video', 'audio']],
    ['a single file', '/site/combined/clipped', /^360p/, '.mp4', ['video', 'audio']],
    // The cover is a stream for FFmpeg.
    ['an MP3 conversion', '/site/music/clipped', /^192 kbps.*MP3/, '.mp3', ['audio', 'video']],
  ])('downloads a part of %s', async (_, path, name, extension, types) => {
    const { page, requests } = await edit(path, name);
    await page.getByRole('button', { name: 'Cut a clip' }).click();
    await input(page, 'Start').fill('0:01.5');
    await input(page, 'End').fill('4');
    const got = await download(page, () => submit(page).click());
    expect(got.name.endsWith(` (0-01.5–0-04)${extension}`), got.name).toBe(true);
    expect(Math.abs(got.durationSeconds - 2.5)).toBeLessThan(0.1);
    expect(got.types).toEqual(types);
    expect(requests.some((request) => /\/api\/Stream\/Media\/.*start=1\.5&end=4$/.test(request.url()))).toBe(true);
  });

  it('takes the position of the player, by keyboard alone', async () => {
    const { page } = await edit('/site/open/keyboard', /^720p/);
    await page.locator('video').evaluate((video) => {
      const media = video as HTMLVideoElement;
      media.pause();
      media.currentTime = 3;
    });
    const toggle = page.getByRole('button', { name: 'Cut a clip' });
    await toggle.focus();
    await page.keyboard.press('Enter');
    expect(await toggle.getAttribute('aria-expanded')).toBe('true');
    expect([await input(page, 'Start').inputValue(), await input(page, 'End').inputValue()]).toEqual(['0:03', '0:08']);
    await page.locator('video').evaluate((video) => {
      (video as HTMLVideoElement).currentTime = 5.5;
    });
    // Start, its button, end, its button, download.
    for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'End at the current position',
    );
    await page.keyboard.press('Space');
    expect(await input(page, 'End').inputValue()).toBe('0:05.5');
    await page.keyboard.press('Tab');
    const got = await download(page, () => page.keyboard.press('Enter'));
    expect(Math.abs(got.durationSeconds - 2.5)).toBeLessThan(0.1);
  });

  it('explains invalid times, and downloads nothing', async () => {
    const { page, requests } = await edit('/site/combined/senseless', /^360p/);
    await page.getByRole('button', { name: 'Cut a clip' }).click();
    for (const [start, end] of [
      ['x', '4'],
      ['4', '4'],
      ['5', '1:'],
    ] as const) {
      await input(page, 'Start').fill(start);
      await input(page, 'End').fill(end);
      await submit(page).click();
      await page.getByRole('alert').getByText('Enter times such as 1:05').waitFor();
      expect(await input(page, 'Start').getAttribute('aria-invalid')).toBe('true');
    }
    await input(page, 'Start').fill('1');
    expect(await page.getByRole('alert').getByText('Enter times such as 1:05').count()).toBe(0);
    expect(requests.some((request) => request.url().includes('start='))).toBe(false);
  });

  it('is not offered for what has no ranges', async () => {
    const { page } = await open(service.baseUrl + service.pageFor('/hls/ts/index.m3u8'));
    await page.getByText(/No seeking/).waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.locator('video').waitFor();
    expect(await page.getByRole('button', { name: 'Cut a clip' }).count()).toBe(0);
  });
});
