import { describe, expect } from 'vitest';
import { CLIPBOARD, eventually, it, usePage, type Visitor } from '../fixtures/page.ts';

const { open, see, link } = usePage();

/** Records every text of the polite live region, in order, the empty one included. */
async function listen({ page }: Visitor): Promise<() => Promise<string[]>> {
  await page.locator('p[role=status]').first().waitFor({ state: 'attached' });
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(globalThis, { heard });
    const voice = document.querySelector('p[role=status]') ?? document.body;
    const changes = { subtree: true, childList: true, characterData: true };
    new MutationObserver(() => heard.push(voice.textContent ?? '')).observe(voice, changes);
  });
  return () => page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
}

describe('announcements', () => {
  it('are of resolving, the result and the download', async () => {
    const visitor = await open();
    const release = await visitor.hold('**/GetResource*');
    const heard = await listen(visitor);
    await visitor.enter(link('/site/combined/heard'));
    await eventually(async () => (await heard()).filter(Boolean)).toEqual(['Loading.']);
    release();
    await eventually(async () => (await heard()).at(-1)).toMatch(/^Loaded Größe “heard”: eins\/zwei.*\.$/);
    await visitor.press(/^Download ./);
    await visitor.announces('Download started. See your browser’s downloads.');
  });

  it('are of every copy, whose address is that of the stream', async () => {
    const visitor = await see('/site/combined/twice', CLIPBOARD);
    await visitor.item();
    const heard = await listen(visitor);
    const times = () => eventually(async () => (await heard()).filter((text) => text === 'Copied.').length);
    await visitor.press('Copy media link');
    await times().toBe(1);
    // The button says so for a moment.
    await visitor.press(/^(Copied|Copy media link)$/);
    await times().toBe(2);
    const { status, headers } = await fetch(await visitor.copied(), { headers: { range: 'bytes=0-0' } });
    expect([status, headers.get('content-type')]).toEqual([206, 'video/mp4']);
  });

  it('are of a player that cannot be loaded, which another try loads', async () => {
    const visitor = await see('/site/combined/unplayed');
    await visitor.page.route('**/assets/player-*.js', (route) => route.abort());
    await visitor.press('Play');
    await visitor.page.getByRole('status').getByText('Can’t reach the server.').waitFor({ state: 'attached' });
    await visitor.admit();
    await visitor.press('Try again');
    await visitor.press('Play');
    await visitor.media.waitFor();
  });
});

describe('by keyboard', () => {
  it('the page is used alone', async () => {
    const visitor = await open();
    const { page } = visitor;
    await visitor.fieldHasFocus();
    await page.keyboard.type(link('/site/combined/keys'));
    await page.keyboard.press('Enter');
    await visitor.item('keys');
    await visitor.fieldHasFocus();
    const tabTo = async (name: RegExp) => {
      for (let step = 0; step < 15; step++) {
        await page.keyboard.press('Tab');
        const focused = page.locator(':focus');
        if (name.test((await focused.getAttribute('aria-label')) ?? (await focused.textContent()) ?? '')) return;
      }
      expect.fail(`The key Tab does not lead to ${name}`);
    };
    await tabTo(/^Play Größe/);
    await page.keyboard.press('Enter');
    await page.locator('video:focus').waitFor();
    await page.keyboard.press('Escape');
    await visitor.focused().toMatch(/^Play Größe/);
    await tabTo(/^Quality$/);
    await page.keyboard.press('ArrowDown');
    await visitor.sentence().toMatch(/^Video in 360p/);
    await visitor.focused().toBe('Quality');
    const coming = page.waitForEvent('download');
    await tabTo(/^Download .*360p/);
    await page.keyboard.press('Enter');
    await (await coming).path();
    await page.keyboard.press('/');
    await visitor.fieldHasFocus();
    expect(await visitor.field.inputValue()).toBe(link('/site/combined/keys'));
  });

  it('the focus follows the visual order with a visible ring', async () => {
    const visitor = await see('/site/combined/order');
    await visitor.item();
    const places: number[] = [];
    for (;;) {
      await visitor.page.keyboard.press('Tab');
      const stop = await visitor.page.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return undefined;
        // A field or row may draw the ring for its control.
        const hasRing = (holder: Element | null): boolean => {
          if (!holder || holder === document.body) return false;
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(holder);
          const hasGlow = holder.matches('.field') && boxShadow !== 'none';
          return (outlineStyle !== 'none' && outlineWidth !== '0px') || hasGlow || hasRing(holder.parentElement);
        };
        const place = [...document.querySelectorAll('*')].indexOf(element);
        return { place, hasRing: hasRing(element), name: element.ariaLabel || element.textContent };
      });
      if (!stop || places.includes(stop.place)) break;
      expect(stop.hasRing, stop.name).toBe(true);
      places.push(stop.place);
    }
    expect(places.length).toBeGreaterThan(8);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });
});

describe('the focus', () => {
  const press = async (visitor: Visitor, name: string | RegExp) => {
    await visitor.button(name).first().focus();
    await visitor.page.keyboard.press('Enter');
  };

  it('stays on the button of a download', async () => {
    const visitor = await see('/site/combined/handed-over');
    await visitor.item();
    await visitor.refuse('Stream/', { status: 502 });
    await press(visitor, /^Download ./);
    await visitor.announces('The site didn’t respond properly');
    await visitor.focused().toMatch(/^Download ·/);
    await visitor.admit();
    await visitor.page.keyboard.press('Enter');
    await visitor.announces('Download started. See your browser’s downloads.');
    await visitor.focused().toMatch(/^Download ·/);
  });

  it('moves to the result after a retry', async () => {
    const visitor = await open();
    await visitor.refuse('Fetch/', { status: 502 });
    await visitor.enter(link('/site/combined/retried'));
    await visitor.heading('The site didn’t respond properly');
    await visitor.admit();
    await press(visitor, 'Try again');
    await visitor.focusIsOnResult();
    await visitor.page.keyboard.press('Tab');
    await visitor.focused().toMatch(/^Play Größe/);
  });

  it('moves to the start page when waiting is stopped', async () => {
    const visitor = await open();
    await visitor.refuse('Fetch/', { status: 429, retryAfter: 30 });
    await visitor.enter(link('/site/combined/stopped'));
    await press(visitor, 'Cancel');
    await visitor.page.locator('main:focus').waitFor();
    expect(new URL(visitor.page.url()).search).toBe('');
    await visitor.page.keyboard.press('Tab');
    await visitor.fieldHasFocus();
  });
});

describe('forced colours', () => {
  it.each(['light', 'dark'] as const)('draw graphics in system colours: %s', async (colorScheme) => {
    const { page } = await open('/', { forcedColors: 'active', colorScheme });
    await page.locator('.tape').waitFor({ state: 'attached' });
    const [drawn, system] = await page.evaluate(() => {
      document.querySelector('.tape')?.classList.add('moving');
      const probe = document.createElement('p');
      probe.style.color = 'CanvasText';
      probe.style.backgroundColor = 'Canvas';
      document.body.append(probe);
      const of = (selector: string) => getComputedStyle(document.querySelector(selector) ?? probe);
      const { color, backgroundColor } = getComputedStyle(probe);
      const graphics = [of('.logo-reel').fill, of('.logo-play').fill, of('.tape').backgroundColor];
      return [graphics, [color, backgroundColor, color]];
    });
    expect(system[0]).not.toBe(system[1]);
    expect(drawn).toEqual(system);
  });
});
