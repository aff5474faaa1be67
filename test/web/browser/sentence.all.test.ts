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
    await says(page).toBe('Video in 360p, no subtitles, in full');
    await menuOf(page, 'Subtitles').selectOption('French subtitles');
    await says(page).toBe('Video in 360p, French subtitles, in full');
    expect(await download(page)).toMatchObject({ query: 'subtitles=fr', types: ['video', 'audio', 'subtitle'] });
    await page.goto(at('/site/detailed/next'));
    await says(page).toBe('Video in 360p, French subtitles, in full');
    await page.goto(at('/site/combined/without'));
    await says(page).toBe('Video in 360p, no subtitles, in full');
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
    await says(page).toBe('Video in 360p, no subtitles, in full');
    expect(await without.count()).toBe(0);
  });

  it('selects sound, its format, language and tags, and remembers them', async () => {
    const { page } = await open(at('/site/dubbed/sound'));
    await says(page).toBe('Video in 360p, original sound, in full');
    await menuOf(page, 'Video or sound').selectOption('Sound');
    await says(page).toMatch(/^Sound as M4A \d+, original sound, in full$/);
    const { key: original } = await download(page);
    await menuOf(page, 'Sound language').selectOption('German (dubbed)');
    await menuOf(page, 'Format').selectOption('MP3 320');
    expect((await download(page)).query).toBe('format=mp3&bitrate=320&tags=true');
    await menuOf(page, 'Tags').selectOption('without tags');
    const sentence = 'Sound as MP3 320, German (dubbed), without tags, in full';
    await says(page).toBe(sentence);
    const dub = await download(page);
    expect(dub).toMatchObject({ query: 'format=mp3&bitrate=320', types: ['audio'] });
    expect(dub.key).not.toBe(original);
    await page.goto(at('/site/dubbed/remembered'));
    await says(page).toBe(sentence);
    // Without dubs the sentence says so.
    await page.goto(at('/site/combined/undubbed'));
    await says(page).toBe('Sound as MP3 320, original sound, without tags, in full');
    await menuOf(page, 'Video or sound').selectOption('Video');
    await says(page).toBe('Video in 720p, original sound, in full');
  });

  it('selects the language of a video, which links and the next item have', async () => {
    const { page } = await open(at('/site/dubbed/video'));
    const languages = menuOf(page, 'Sound language');
    await languages.waitFor();
    const names = ['original sound', 'German (dubbed)', 'all languages'];
    expect(await languages.locator('option').allTextContents()).toEqual(names);
    expect(await download(page)).toMatchObject({ query: '', types: ['video', 'audio'] });
    await languages.selectOption('all languages');
    await says(page).toBe('Video in 360p, all languages, in full');
    expect(await download(page)).toMatchObject({ query: 'audio=all', types: ['video', 'audio', 'audio'] });
    await languages.selectOption('German (dubbed)');
    await page.goto(at('/site/dubbed/next'));
    await says(page).toBe('Video in 360p, German (dubbed), in full');
    expect((await downloadFrom(page.getByRole('button', { name: /^Download ./ }))).suggestedFilename()).toMatch(
      / \(360p\) \(German\)\.mp4$/,
    );
  });

  it('leaves out what viewers have reported, and remembers it', async () => {
    const { page } = await open(`${instance.baseUrl}/?url=https://video.example/video`);
    const part = menuOf(page, 'Parts');
    await eventually(() => part.locator('option').allTextContents()).toEqual([
      'in full',
      'without sponsors',
      'without self-promotion',
      'without reminders to subscribe',
      'without intro',
      'without sponsors, self-promotion, reminders to subscribe, and intro',
      'in full, sponsors, self-promotion, reminders to subscribe, and intro as chapters',
      'as a clip',
    ]);
    await page.locator('.media-length').getByText('1:02:03', { exact: true }).waitFor();
    await says(page).toMatch(/ in full$/);
    await part.selectOption('without self-promotion');
    await page.locator('.media-length').getByText('1:01:03', { exact: true }).waitFor();
    await part.selectOption({ index: 5 });
    await page.locator('.media-length').getByText('1:00:00', { exact: true }).waitFor();
    const asked = page.waitForRequest(/skip=/);
    await page.getByRole('button', { name: /^Download ./ }).click();
    expect(new URL((await asked).url()).searchParams.get('skip')).toBe('sponsor,selfpromo,interaction,intro');
    await page.reload();
    await says(page).toMatch(/, without sponsors, self-promotion, reminders to subscribe, and intro$/);
    await part.selectOption('in full, sponsors, self-promotion, reminders to subscribe, and intro as chapters');
    await page.locator('.media-length').getByText('1:02:03', { exact: true }).waitFor();
    const marked = page.waitForRequest(/mark=/);
    await page.getByRole('button', { name: /^Download ./ }).click();
    const { searchParams } = new URL((await marked).url());
    expect([searchParams.get('mark'), searchParams.has('skip')]).toEqual([
      'sponsor,selfpromo,interaction,intro',
      false,
    ]);
    await page.reload();
    await says(page).toMatch(/, in full, sponsors, .* and intro as chapters$/);
    await part.selectOption('in full');
    await says(page).toMatch(/ in full$/);
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
    ['ja', '360pの動画、字幕なし、全体'],
    ['zh-CN', '360p 视频，无字幕，完整'],
    ['de', 'Video in 360p, ohne Untertitel, in voller Länge'],
    ['ar', 'فيديو بدقة 360p، بلا ترجمة، كامل'],
  ])('has the order of words of %s', async (locale, sentence) => {
    const { page } = await open(at('/site/detailed/words'), { locale });
    const text = () =>
      page.locator('.sentence').evaluate((element) => {
        const copy = element.cloneNode(true) as Element;
        for (const menu of copy.querySelectorAll('select')) menu.remove();
        return copy.textContent;
      });
    await eventually(text).toBe(sentence);
  });

  it('is short for what has nothing else to select', async () => {
    const { page } = await open(at('/live/index.m3u8'));
    await says(page).toMatch(/^Video in \S+$/);
    await page.goto(at('/site/music/song'));
    await says(page).toMatch(/^Sound as M4A \d+, in full$/);
    expect(await menuOf(page, 'Video or sound').locator('option').allTextContents()).toEqual(['Sound']);
  });
});
