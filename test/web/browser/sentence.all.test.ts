import { describe, expect } from 'vitest';
import { useFakeInstance } from '../fakes/instance.ts';
import { eventually, it, usePage, type Visitor } from '../fixtures/page.ts';
import { addressOf } from './page-states.ts';

const { see, open, service } = usePage();
const instance = useFakeInstance();

/** Downloads what the sentence says: the key of its address, and its query besides the name of the file. */
async function download(visitor: Visitor) {
  const { pathname, searchParams: query } = new URL((await visitor.download()).url());
  query.delete('name');
  return { key: pathname.split('/').at(-1), query: String(query) };
}

describe('the sentence', () => {
  it('embeds subtitles, and does so for the next item that has them', async () => {
    const visitor = await see('/site/detailed/subtitles');
    const { page } = visitor;
    const shown = () => page.locator('.extras').innerText();
    await visitor.choose('Subtitles', 'French subtitles');
    await eventually(shown).toContain('French subtitles');
    expect((await download(visitor)).query).toBe('subtitles=fr');
    await page.goto(service.pageFor('/site/detailed/next'));
    await eventually(shown).toContain('French subtitles');
    await page.goto(service.pageFor('/site/combined/without'));
    await visitor.button('Clip').waitFor();
    expect(await visitor.menu('Subtitles').count()).toBe(0);
    expect((await download(visitor)).query).toBe('');
  });

  it('offers the video without subtitles where those fail', async () => {
    const visitor = await see('/site/detailed/failing');
    await visitor.choose('Subtitles', 'French subtitles');
    await visitor.page.route(/subtitles=fr/, (route) => route.fulfill({ status: 502, body: '' }));
    await visitor.press(/^Download .*\d+p/);
    const without = visitor.button('Download without subtitles');
    const file = await visitor.download(without);
    expect(new URL(file.url()).searchParams.has('subtitles')).toBe(false);
    await eventually(() => visitor.menu('Subtitles').inputValue()).toBe('0');
    expect(await without.count()).toBe(0);
  });

  it('selects sound, its format and language, and remembers them', async () => {
    const visitor = await see('/site/dubbed/sound');
    await visitor.sentence().toBe('Video in 360p, English');
    await visitor.choose('Video or sound', 'Sound');
    await visitor.sentence().toMatch(/^Sound as M4A \d+, English$/);
    const { key: original } = await download(visitor);
    await visitor.choose('Sound language', 'German (dubbed)');
    await visitor.choose('Format', 'MP3 128');
    await visitor.sentence().toBe('Sound as MP3 128, German (dubbed)');
    const dub = await download(visitor);
    expect(dub.query).toBe('format=mp3&bitrate=128&tags=true');
    expect(dub.key).not.toBe(original);
    await visitor.page.goto(service.pageFor('/site/dubbed/remembered'));
    await visitor.sentence().toBe('Sound as MP3 128, German (dubbed)');
    // Nothing is known of its language.
    await visitor.page.goto(service.pageFor('/site/combined/undubbed'));
    await visitor.sentence().toBe('Sound as MP3 128');
    await visitor.choose('Video or sound', 'Video');
    await visitor.sentence().toBe('Video in 720p');
  });

  it('selects the language of a video', async () => {
    const visitor = await see('/site/dubbed/video');
    await visitor.choose('Sound language', 'all languages');
    await visitor.sentence().toBe('Video in 360p, all languages');
    expect((await download(visitor)).query).toBe('audio=all');
  });

  it('leaves out sponsors that viewers have reported, and remembers it', async () => {
    const visitor = await open(instance.baseUrl + addressOf('video'));
    const without = visitor.byRole('checkbox', 'Without sponsors');
    await visitor.says('1:02:03');
    await without.check();
    await visitor.says('1:01:03');
    await visitor.press(/^Download ./);
    await eventually(() => visitor.asked(/[?&]skip=sponsor(&|$)/)).toBeGreaterThan(0);
    await visitor.page.reload();
    await visitor.says('1:01:03');
    await without.uncheck();
    await visitor.says('1:02:03');
  });

  it.each(['video', 'long', 'plain', 'audio'])('has its download on the first screen of a phone: %s', async (name) => {
    const viewport = { width: 390, height: 664 };
    const visitor = await open(instance.baseUrl + addressOf(name), { viewport, reusePage: true });
    await visitor.says('1:02:03');
    const { y = 0, height = 0 } = (await visitor.button(/^Download ./).boundingBox()) ?? {};
    expect(y).toBeGreaterThan(0);
    expect(y + height).toBeLessThanOrEqual(viewport.height);
  });

  it.each([
    ['ja', '360pの動画、英語'],
    ['zh-CN', '360p 视频，英语'],
    ['de', 'Video in 360p, Englisch'],
    ['ar', 'فيديو بدقة 360p، الإنجليزية'],
  ])('has the order of words of %s', async (locale, sentence) => {
    await (await see('/site/dubbed/words', { locale })).sentence().toBe(sentence);
  });

  it('has no menu where there is only one choice', async () => {
    const visitor = await see('/site/music/song');
    await visitor.sentence().toMatch(/^Sound as M4A \d+, English$/);
    expect(await visitor.menu('Video or sound').count()).toBe(0);
  });
});
