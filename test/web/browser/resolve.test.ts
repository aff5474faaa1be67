import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, sentenceOf, useBrowser } from '../fixtures/browser.ts';
import { scriptedPage } from '../fixtures/scripted-page.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };
const titleOf = (id: string) => `Größe “${id}”: eins/zwei`;
const at = (address: string) => service.baseUrl + address;

describe('resolving a link', () => {
  it('resolves a pasted link and preselects a rendition', async () => {
    const { page, resolves } = await open(at('/'), CLIPBOARD);
    const link = service.origin.url('/site/combined/pasted');
    await page.locator('input[name=url]:focus').waitFor();
    await page.evaluate((text) => navigator.clipboard.writeText(text), `Look: ${link} (new)`);
    await page.keyboard.press('Control+V');
    await page.getByRole('heading', { name: titleOf('pasted') }).waitFor();
    await page.getByText('Ärtist Example').first().waitFor();
    await eventually(() => sentenceOf(page)).toMatch(/^Video in 720p/);
    await eventually(() =>
      page.$eval('article img', (cover) => (cover as HTMLImageElement).naturalWidth),
    ).toBeGreaterThan(100);
    expect(new URL(page.url()).searchParams.get('url')).toBe(link);
    expect(resolves()).toBe(1);
  });

  it('plays the rendition that is selected', async () => {
    const { page } = await open(at(service.pageFor('/site/combined/played')));
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    const position = () => page.locator('video').evaluate((media) => (media as HTMLVideoElement).currentTime);
    await eventually(position).toBeGreaterThan(0);
  });

  it('unwraps a shared address of this page', async () => {
    const { page } = await open(at('/'), CLIPBOARD);
    await page.locator('input[name=url]:focus').waitFor();
    await page.evaluate((text) => navigator.clipboard.writeText(text), at(service.pageFor('/site/combined/wrapped')));
    await page.keyboard.press('Control+V');
    await page.getByRole('heading', { name: titleOf('wrapped') }).waitFor();
    expect(await page.getByRole('textbox').inputValue()).toBe(service.origin.url('/site/combined/wrapped'));
  });

  it('offers the dubs of an item, too', async () => {
    const { page } = await open(at(service.pageFor('/site/dubbed/offered')));
    await page.getByText(/^All formats/).click();
    await page.getByRole('radio', { name: /^\d+ kbps English/ }).waitFor();
    await page.getByRole('radio', { name: /^\d+ kbps German \(dubbed\)/ }).waitFor();
  });

  it('says when the site lets the video start', async () => {
    const { page } = await open(at(service.pageFor('/site/combined/waits?wait=60')));
    await page.getByText(/^The site lets this video start in \d+ s$/).waitFor();
    await page.getByRole('button', { name: /^Play/ }).first().click();
    await page.getByText('Waiting for the site').waitFor();
  });

  it('shows a skeleton while resolving', async () => {
    scriptedPage.hold();
    const { page } = await open(at(service.pageFor('/scripted/slow')));
    await page.locator('[aria-busy=true] .skeleton').first().waitFor();
    scriptedPage.respondWith(200);
    await page.getByRole('article', { name: 'Page slow' }).waitFor();
    await page.locator('.skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' });
  });

  it('rejects input that is no link', async () => {
    const { page, resolves } = await open(at('/'));
    const field = page.getByRole('textbox');
    for (const [text, says] of [
      ['no link at all', 'That’s not a link.'],
      ['', 'Paste a link first.'],
      ['ftp://example.com/film.mp4', 'That’s not a link.'],
      [`https://example.com/${'x'.repeat(4096)}`, 'That link is too long'],
    ] as const) {
      await field.fill(text);
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: says }).waitFor();
      expect(await field.getAttribute('aria-invalid'), text).toBe('true');
    }
    expect(resolves()).toBe(0);
  });

  it("shows the input error in the page's language until the input changes", async () => {
    const { page } = await open(at('/'));
    const field = page.getByRole('textbox');
    await field.fill('no link at all');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'That’s not a link.' }).waitFor();
    await page.locator('footer select').first().selectOption('de');
    await page.getByRole('alert').filter({ hasText: 'Das ist kein Link.' }).waitFor();
    await field.press('End');
    await field.press('Backspace');
    await eventually(() => page.getByRole('alert').textContent()).toBe('');
    expect(await field.getAttribute('aria-invalid')).toBe('false');
  });

  it.each([
    ['/files/nowhere.mp4', 'Nothing found', undefined],
    ['/site/drm/x', 'Protected content', /DRM/],
    ['/site/login/x', 'Members only', /members/],
    ['/trouble/401', 'Sign-in required', /signed in/],
    ['/site/age/x', 'Age check', /age/],
    ['/site/geo/x', 'Not available in this region', /region/],
    ['/pages/words', 'Link not supported', /No video or audio/],
  ])('explains a failure: %s', async (path, title, explanation) => {
    const { page } = await open(at(service.pageFor(path)), { reusePage: true });
    await page.getByRole('heading', { name: title, exact: true }).waitFor();
    if (explanation) await page.getByText(explanation).first().waitFor();
    // A refusal is permanent.
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(explanation ? 0 : 1);
  });

  it('retries after a failure', async () => {
    scriptedPage.respondWith(500);
    const { page } = await open(at(service.pageFor('/scripted/again')));
    await page.getByRole('heading', { name: 'The site didn’t respond properly' }).waitFor();
    scriptedPage.respondWith(200);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('article', { name: 'Page again' }).waitFor();
  });
});
