import { describe, expect } from 'vitest';
import { LOCALES } from '../../../web/src/texts.ts';
import { useFakeInstance } from '../fakes/instance.ts';
import { it, usePage, type Visitor } from '../fixtures/page.ts';
import { addressOf } from './page-states.ts';

const { open } = usePage();
const instance = useFakeInstance();

/** Opens a link of the fake instance, up to its details, in a window of a phone by default. */
async function see(name: string, { width = 320, height = 640, locale = 'en' } = {}) {
  const viewport = { width, height };
  const visitor = await open(instance.baseUrl + addressOf(name), { viewport, locale, reusePage: true });
  await visitor.page.locator('.media-length').waitFor();
  return visitor;
}

/** The lines of text in the button of the download, and whether the button to play is beside it. */
const actionsOf = ({ page }: Visitor) =>
  page.locator('.actions').evaluate((actions) => {
    const [download, play] = [...actions.children].map((button) => button.getBoundingClientRect());
    const range = document.createRange();
    range.selectNodeContents(actions.querySelector('.primary > span') ?? actions);
    const boxes = [...range.getClientRects()];
    const isWithin = boxes.every(({ left, right }) => download && left >= download.left && right <= download.right);
    return {
      lines: new Set(boxes.map(({ y }) => Math.round(y / 8))).size,
      isWithin,
      isBeside: download?.y === play?.y,
    };
  });

const ONE_LINE = { lines: 1, isWithin: true, isBeside: true };

describe('the button of the download', () => {
  it.each(LOCALES)('is one line beside the one to play at 320 px, in %s', async (locale) => {
    const visitor = await see('video', { locale });
    expect(await actionsOf(visitor)).toEqual(ONE_LINE);
    const button = visitor.page.locator('.actions .primary');
    const before = await button.textContent();
    await button.click();
    await visitor.page.locator('.download-note').getByText(/./).waitFor();
    expect([await button.textContent(), await actionsOf(visitor)]).toEqual([before, ONE_LINE]);
  });

  it('keeps its place and that of what follows when it is pressed', async () => {
    const visitor = await see('video', { width: 1280, height: 800 });
    const placeOf = async () => (await visitor.button('Copy media link').boundingBox())?.y;
    const before = await placeOf();
    await visitor.press(/^Download ·/);
    await visitor.says('Download started');
    expect(await placeOf()).toBe(before);
  });
});

describe('the title', () => {
  it.each([
    [320, 568],
    [375, 667],
    [768, 1024],
    [1280, 720],
    [1920, 800],
  ])('is on the first screen of %i × %i, below a cover of at most 0.6 of its height', async (width, height) => {
    for (const name of ['video', 'long']) {
      const { page } = await see(name, { width, height });
      const { y: top = 0, height: own = 0 } = (await page.locator('.item-head h2').boundingBox()) ?? {};
      expect(own).toBeGreaterThan(0);
      expect(top + own).toBeLessThanOrEqual(height);
      const stage = await page.locator('.media-stage').boundingBox();
      expect(stage?.height).toBeLessThanOrEqual(0.6 * height + 1);
    }
  });
});

describe('what is shown while a link is resolved', () => {
  it.each([
    ['an item', 'https://video.example/watch?v=never', true],
    ['a list, where its address says so', 'https://video.example/playlist/never', false],
  ])('has the shape of %s', async (_, link, isItem) => {
    const { page } = await open(`${instance.baseUrl}/?url=${encodeURIComponent(link.replace('?v=', '/'))}`);
    await page.locator('.skeleton').first().waitFor();
    expect(await page.locator('.media-stage.skeleton').count()).toBe(isItem ? 1 : 0);
  });

  it('has the shape of a list where the link was one before', async () => {
    const visitor = await open(instance.baseUrl + addressOf('feed'));
    const { page } = visitor;
    await visitor.heading('Every Episode of the Coast');
    const release = await visitor.hold('**/GetResource*');
    await page.reload();
    await page.locator('.skeleton').first().waitFor();
    expect(await page.locator('.media-stage.skeleton').count()).toBe(0);
    release();
    await visitor.heading('Every Episode of the Coast');
  });

  it.each([320, 1280])(
    'gives its place to the item at %i px: the cover, the title and the panel stay',
    async (width) => {
      const visitor = await open('about:blank', { viewport: { width, height: 800 } });
      const { page } = visitor;
      const release = await visitor.hold('**/GetResource*');
      await page.goto(instance.baseUrl + addressOf('video'));
      const places = () =>
        page
          .locator('.item .media-stage, .item .item-head, .item .panel')
          .evaluateAll((all) => all.map((one) => [one.getBoundingClientRect().x, one.getBoundingClientRect().y]));
      await page.locator('.media-stage.skeleton').waitFor();
      const before = await places();
      release();
      await page.locator('.media-length').waitFor();
      expect(before).toHaveLength(3);
      if (width > 900) expect(await places()).toEqual(before);
      else expect((await places()).slice(0, 2)).toEqual(before.slice(0, 2));
    },
  );
});
