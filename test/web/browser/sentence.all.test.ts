import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { probe } from '../../support/media-tools.ts';
import { useFakeInstance } from '../fakes/instance.ts';
import { downloadFrom, eventually, menuOf, sentenceOf, useBrowser } from '../fixtures/browser.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const instance = useFakeInstance();
const { open } = useBrowser();
const at = (path: string) => service.baseUrl + service.pageFor(path);

const says = (page: Page) => eventually(() => sentenceOf(page));

/** Downloads what the sentence says. Returns the query of its address, besides the name of the file, as well. */
async function download(page: Page) {
  const file = await downloadFrom(page.getByRole('button', { name: /^Download ./ }));
  const { pathname, searchParams: query } = new URL(file.url());
  query.delete('name');
  const { streams } = await probe(await file.path());
  return { key: pathname.split('/').at(-1), query: String(query), types: streams.map(({ type }) => type) };
}

describe('the sentence', () => {
  it('embeds subtitles, and does so for the next item that has them', async () => {
    const { page } = await open(at('/site/detailed/subtitles'));
    const subtitles = menuOf(page, 'Subtitles');
    const isFrench = () => page.locator('.extras').getByText('French subtitles', { exact: true }).first().isVisible();
    await subtitles.selectOption('French subtitles');
    await eventually(isFrench).toBe(true);
    expect(await download(page)).toMatchObject({ query: 'subtitles=fr', types: ['video', 'audio', 'subtitle'] });
    await page.goto(at('/site/detailed/next'));
    await eventually(isFrench).toBe(true);
    await page.goto(at('/site/combined/without'));
    await page.getByRole('button', { name: 'Clip' }).waitFor();
    expect(await subtitles.count()).toBe(0);
    expect((await download(page)).query).toBe('');
  });

  it('offers the video without subtitles where those fail', async () => {
    const { page } = await open(at('/site/detailed/failing'));
    await menuOf(page, 'Subtitles').selectOption('French subtitles');
    await page.route(/subtitles=fr/, (route) => route.fulfill({ status: 502, body: '' }));
    await page.getByRole('button', { name: /^Download \d/ }).click();
    const without = page.getByRole('button', { name: 'Download without subtitles' });
    const file = await downloadFrom(without);
    expect(new URL(file.url()).searchParams.has('subtitles')).toBe(false);
    await eventually(() => menuOf(page, 'Subtitles').inputValue()).toBe('0');
    expect(await without.count()).toBe(0);
  });

  it('selects sound, its format and language, and remembers them', async () => {
    const { page } = await open(at('/site/dubbed/sound'));
    await says(page).toBe('Video in 360p, English');
    await menuOf(page, 'Video or sound').selectOption('Sound');
    await says(page).toMatch(/^Sound as M4A \d+, English$/);
    const { key: original } = await download(page);
    await menuOf(page, 'Sound language').selectOption('German (dubbed)');
    await menuOf(page, 'Format').selectOption('MP3 320');
    const sentence = 'Sound as MP3 320, German (dubbed)';
    await says(page).toBe(sentence);
    const dub = await download(page);
    expect(dub).toMatchObject({ query: 'format=mp3&bitrate=320&tags=true', types: ['audio', 'video'] });
    expect(dub.key).not.toBe(original);
    await page.goto(at('/site/dubbed/remembered'));
    await says(page).toBe(sentence);
    // Nothing is known of its language.
    await page.goto(at('/site/combined/undubbed'));
    await says(page).toBe('Sound as MP3 320');
    await menuOf(page, 'Video or sound').selectOption('Video');
    await says(page).toBe('Video in 720p');
  });

  it('selects the language of a video, which links and the next item have', async () => {
    const { page } = await open(at('/site/dubbed/video'));
    const languages = menuOf(page, 'Sound language');
    await languages.waitFor();
    const names = ['English', 'German (dubbed)', 'all languages'];
    expect(await languages.locator('option').allTextContents()).toEqual(names);
    expect(await download(page)).toMatchObject({ query: '', types: ['video', 'audio'] });
    await languages.selectOption('all languages');
    await says(page).toBe('Video in 360p, all languages');
    expect(await download(page)).toMatchObject({ query: 'audio=all', types: ['video', 'audio', 'audio'] });
    await languages.selectOption('German (dubbed)');
    await page.goto(at('/site/dubbed/next'));
    await says(page).toBe('Video in 360p, German (dubbed)');
    expect((await downloadFrom(page.getByRole('button', { name: /^Download ./ }))).suggestedFilename()).toMatch(
      / \(360p German dubbed\)\.mp4$/,
    );
  });

  it('leaves out sponsors that viewers have reported, and remembers it', async () => {
    const { page } = await open(`${instance.baseUrl}/?url=https://video.example/video`);
    const without = page.getByRole('checkbox', { name: 'Without sponsors' });
    const length = (text: string) => page.locator('.media-length').getByText(text, { exact: true }).waitFor();
    await length('1:02:03');
    await without.check();
    await length('1:01:03');
    const asked = page.waitForRequest(/skip=/);
    await page.getByRole('button', { name: /^Download ./ }).click();
    expect(new URL((await asked).url()).searchParams.get('skip')).toBe('sponsor');
    await page.reload();
    await length('1:01:03');
    await without.uncheck();
    await length('1:02:03');
  });

  it.each(['video', 'long', 'plain', 'audio'])('has its download on the first screen of a phone: %s', async (name) => {
    const viewport = { width: 390, height: 664 };
    const { page } = await open(`${instance.baseUrl}/?url=https://video.example/${name}`, { viewport });
    await page.locator('.media-length').waitFor();
    const { y = 0, height = 0 } = (await page.getByRole('button', { name: /^Download ./ }).boundingBox()) ?? {};
    expect(y).toBeGreaterThan(0);
    expect(y + height).toBeLessThanOrEqual(viewport.height);
  });

  it('changes by keyboard, and keeps the focus', async () => {
    const { page } = await open(at('/site/combined/keys'));
    await menuOf(page, 'Quality').focus();
    await page.keyboard.press('ArrowDown');
    await says(page).toMatch(/^Video in 360p/);
    await page.keyboard.press('3');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowDown');
    await says(page).toMatch(/^Sound as /);
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe('Video or sound');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe('Format');
  });

  it.each([
    ['ja', '360pの動画、英語'],
    ['zh-CN', '360p 视频，英语'],
    ['de', 'Video in 360p, Englisch'],
    ['ar', 'فيديو بدقة 360p، الإنجليزية'],
  ])('has the order of words of %s', async (locale, sentence) => {
    const { page } = await open(at('/site/dubbed/words'), { locale });
    const text = () =>
      page.locator('.sentence').evaluate((element) => {
        const copy = element.cloneNode(true) as Element;
        for (const menu of copy.querySelectorAll('select')) menu.remove();
        return copy.textContent;
      });
    await eventually(text).toBe(sentence);
  });

  it('has no menus when there is only one choice', async () => {
    const { page } = await open(at('/live/index.m3u8'));
    await says(page).toMatch(/^Video in \S+$/);
    await page.goto(at('/site/music/song'));
    await says(page).toMatch(/^Sound as M4A \d+, English$/);
    expect(await menuOf(page, 'Video or sound').count()).toBe(0);
  });
});
