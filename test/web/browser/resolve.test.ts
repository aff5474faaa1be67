import { describe, expect } from 'vitest';
import { CLIPBOARD, eventually, it, titleOf, usePage } from '../fixtures/page.ts';

const { service, open, see, link } = usePage();

describe('resolving a link', () => {
  it('that is pasted anywhere preselects a rendition, and plays it', async () => {
    const visitor = await open('/', CLIPBOARD);
    const { page } = visitor;
    await visitor.fieldHasFocus();
    await page.locator('main').focus();
    await visitor.paste(`Look: ${link('/site/combined/pasted')} (new)`);
    await visitor.heading(titleOf('pasted'));
    await visitor.says('Ärtist Example');
    await visitor.sentence().toMatch(/^Video in 720p/);
    await eventually(() =>
      page.$eval('article img', (cover) => (cover as HTMLImageElement).naturalWidth),
    ).toBeGreaterThan(100);
    expect(new URL(page.url()).searchParams.get('url')).toBe(link('/site/combined/pasted'));
    await page.waitForLoadState('networkidle');
    expect([visitor.resolves(), visitor.asked(/./, 'HEAD')]).toEqual([1, 0]);
    await visitor.play();
  });

  it('offers every rendition on request, and asks once whether the selected one has ranges', async () => {
    const visitor = await see('/site/open/versions');
    const { page } = visitor;
    await visitor.sentence().toBe('Video in 720p, English');
    await page.getByText(/^All formats/).click();
    await page.getByRole('radio').first().waitFor();
    const labels = await page
      .getByRole('radio')
      .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).labels?.[0]?.textContent));
    expect(labels.filter((label) => /^\d+p/.test(label ?? ''))).toHaveLength(4);
    expect([0, 3].map((at) => labels[at]?.includes('Some devices only'))).toEqual([false, true]);
    // The pair has ranges.
    await eventually(() => visitor.asked(/./, 'HEAD')).toBe(1);
    await page.waitForLoadState('networkidle');
    expect(await page.getByText(/Can’t be resumed/).count()).toBe(0);
  });

  it('offers no link to a script that an instance names as the address of an item', async () => {
    const visitor = await open();
    const video = { renditions: [{ key: 'whole', label: '360p', fileExtension: '.mp4', mimeType: 'video/mp4' }] };
    const item = { requestedUrl: 'javascript:alert(1)', title: 'T', author: null, coverUrl: null, video };
    const json = { type: 'Media', mediaItems: [item] };
    await visitor.page.route('**/GetResource*', (route) => route.fulfill({ json }));
    await visitor.enter(link('/site/combined/hostile'));
    await visitor.item();
    expect(await visitor.page.locator('a[href^="javascript:alert"]').count()).toBe(0);
  });

  it.each([
    ['/files/nowhere.mp4', 'Nothing found', 1],
    ['/site/drm/x', 'Protected content', 0],
  ])('explains a failure, and offers another try unless it is permanent: %s', async (path, title, tries) => {
    const visitor = await see(path);
    await visitor.heading(title);
    expect(await visitor.button('Try again').count()).toBe(tries);
  });

  it('rejects input that is no link, in the language of the page, until the input changes', async () => {
    const visitor = await open();
    const { field, page } = visitor;
    for (const [text, says] of [
      ['', 'Paste a link first.'],
      ['ftp://example.com/film.mp4', 'That’s not a link.'],
      [`https://example.com/${'x'.repeat(4096)}`, 'That link is too long'],
    ] as const) {
      await visitor.enter(text);
      await visitor.alerts(says);
      expect(await field.getAttribute('aria-invalid'), text).toBe('true');
    }
    await page.locator('footer select').first().selectOption('de');
    await visitor.alerts(/zu lang/);
    await field.press('End');
    await field.press('Backspace');
    await eventually(() => page.getByRole('alert').textContent()).toBe('');
    expect([await field.getAttribute('aria-invalid'), visitor.resolves()]).toEqual(['false', 0]);
  });

  it('keeps unusable text of the address for editing', async () => {
    const text = 'hello';
    const visitor = await open(`/?title=A%20film&text=${text}`);
    await visitor.alerts('That’s not a link.');
    expect(await visitor.field.inputValue()).toBe(text);
    await visitor.enter(link('/site/combined/mended'));
    await visitor.item('mended');
    await visitor.page.goBack();
    await eventually(() => visitor.field.inputValue()).toBe(text);
    await visitor.alerts('That’s not a link.');
  });

  it('is tried again once the browser is online', async () => {
    const visitor = await open();
    // Rendered by the script, so everything of the first load is there.
    await visitor.menu('Theme').waitFor();
    await visitor.context.setOffline(true);
    await visitor.enter(link('/site/combined/offline'));
    await visitor.heading('You’re offline');
    await visitor.context.setOffline(false);
    await visitor.item('offline');
  });

  it.each([
    ['a new version of the page is deployed', { status: 404 }],
    ['the connection is lost', undefined],
  ])('says that the result cannot be shown where %s, and another try shows it', async (_, answer) => {
    const visitor = await open();
    const { page } = visitor;
    await visitor.menu('Theme').waitFor();
    const region = page.locator('p[role=status]');
    const before = await region.elementHandle();
    await page.route('**/assets/shown-result-*', (route) => (answer ? route.fulfill(answer) : route.abort()));
    await visitor.enter(link('/site/combined/unloaded'));
    await visitor.heading('Can’t reach the server');
    // Also once the link is resolved, which is not what is to be seen.
    await page.waitForLoadState('networkidle');
    await eventually(() => region.textContent()).toBe('Can’t reach the server. It may be down. Try again in a moment.');
    expect(await before?.evaluate((one) => one.isConnected)).toBe(true);
    await visitor.admit();
    await visitor.press('Try again');
    await visitor.item();
  });
});

describe('history navigation', () => {
  it('follows the links of the page', async () => {
    const visitor = await see('/site/combined/first');
    await visitor.item('first');
    await visitor.enter(link('/site/combined/second'));
    await visitor.item('second');
    expect(await visitor.page.title()).toBe(`${titleOf('second')} – Reelay`);
    await visitor.page.goBack();
    await visitor.item('first');
    await visitor.byRole('link', 'Reelay, start page').click();
    await eventually(() => visitor.page.getByRole('article').count()).toBe(0);
    expect([await visitor.field.inputValue(), new URL(visitor.page.url()).href]).toEqual(['', `${service.baseUrl}/`]);
  });
});
