import { describe, expect } from 'vitest';
import { eventually, it, usePage, type Visitor } from '../fixtures/page.ts';

const { see } = usePage();

const time = (visitor: Visitor, name: string) => visitor.byRole('textbox', name);
const handle = (visitor: Visitor, name: string) => visitor.byRole('slider', name);
/** What the button says that it downloads. */
const selects = (visitor: Visitor) => eventually(() => visitor.button(/^Download ·/).textContent());

/** Opens a link and begins to select a part of it, as the sentence offers. */
async function trim(path: string, format = /^360p/) {
  const visitor = await see(path, { reusePage: true });
  await visitor.selectFormat(format);
  await visitor.press('Clip');
  await handle(visitor, 'End').waitFor();
  return visitor;
}

describe('the trimmer', () => {
  it.each([
    ['a pair', '/site/open/clipped', /^720p/, '.mp4'],
    ['an MP3 conversion', '/site/music/clipped', /^128 kbps.*MP3/, '.mp3'],
  ])('downloads a part of %s', async (_, path, format, extension) => {
    const visitor = await trim(path, format);
    await time(visitor, 'Start').fill('0:01.5');
    await time(visitor, 'End').fill('4');
    await selects(visitor).toMatch(/ 0:01\.5–0:04 /);
    const file = await visitor.download();
    expect(file.suggestedFilename()).toContain(` 0-01.5–0-04)${extension}`);
    await file.path();
    expect(visitor.asked(/\/api\/Stream\/Media\/.*start=1\.5&end=4$/)).toBeGreaterThan(0);
  });

  it('moves its handles by keyboard, a second at a time and never past each other, and by pointer', async () => {
    const visitor = await trim('/site/combined/handles');
    const { keyboard, mouse } = visitor.page;
    await visitor.pause();
    await handle(visitor, 'Start').focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight']) await keyboard.press(key);
    await selects(visitor).toMatch(/ 0:03–0:08 /);
    await eventually(() => time(visitor, 'Start').inputValue()).toBe('0:03');
    // The player shows what a handle is at.
    await eventually(() => visitor.of('currentTime')).toBe(3);
    await keyboard.press('Tab');
    await keyboard.press('Home');
    await selects(visitor).toMatch(/ 0:03–0:04 /);
    await eventually(() => handle(visitor, 'End').getAttribute('aria-valuetext')).toBe('0:04');
    await handle(visitor, 'Start').focus();
    await keyboard.press('End');
    await selects(visitor).toMatch(/ 0:03–0:04 /);
    const { x = 0, y = 0, width = 0, height = 0 } = (await handle(visitor, 'Start').boundingBox()) ?? {};
    await mouse.move(x + width / 2, y + height / 2);
    await mouse.down();
    await mouse.move(x + (width * 3) / 4, y + height / 2, { steps: 4 });
    await mouse.up();
    await selects(visitor).toMatch(/ 0:03–0:06 /);
  });

  it('explains invalid times, and keeps the last valid ones', async () => {
    const visitor = await trim('/site/combined/senseless');
    await time(visitor, 'End').fill('5');
    for (const [name, text] of [
      ['Start', 'x'],
      ['Start', '5'],
      ['End', '0'],
      ['End', '1:00:00'],
    ] as const) {
      const field = time(visitor, name);
      const before = await field.inputValue();
      await field.fill(text);
      await visitor.alerts('Enter times such as 1:05');
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      await selects(visitor).toMatch(/ 0:00–0:05 /);
      await field.fill(before);
      await visitor.page.getByText('Enter times such as 1:05').waitFor({ state: 'detached' });
    }
  });

  it('ends with its button and with the player', async () => {
    const visitor = await trim('/site/combined/ended');
    for (const end of ['Clip', 'Close the player']) {
      await selects(visitor).toMatch(/ 0:00–0:08 /);
      await visitor.press(end === 'Clip' ? /^Clip/ : end);
      await handle(visitor, 'End').waitFor({ state: 'detached' });
      await selects(visitor).toMatch(/^Download · \D*[\d.]+ .B360p /);
      if (end === 'Clip') await visitor.press('Clip');
    }
  });

  it('plays its part alone, and from its start again', async () => {
    const visitor = await trim('/site/combined/bounded');
    await time(visitor, 'End').fill('2');
    await time(visitor, 'Start').fill('1');
    const play = () =>
      visitor.media.evaluate(
        (media) =>
          new Promise<number>((sought) => {
            const played = media as HTMLVideoElement;
            played.onseeked = () => sought(played.currentTime);
            void played.play();
            if (played.currentTime < 2) sought(played.currentTime);
          }),
      );
    await play();
    const heldAt = async () => ((await visitor.of('paused')) ? Number(await visitor.of('currentTime')) : 0);
    await eventually(heldAt).toBeGreaterThanOrEqual(2);
    expect(await play()).toBeCloseTo(1, 1);
  });
});
