import { describe, expect } from 'vitest';
import { eventually, it, usePage } from '../fixtures/page.ts';

const { see, service, link, open } = usePage();
const named = usePage({ settings: { publicUrl: 'https://media.example' } });
const PATH = '/site/combined/shared-item';

describe('a link with #download', () => {
  it('starts its download once', async () => {
    const visitor = await open(`${service.pageFor('/site/combined/download-link')}#download`);
    await visitor.says('Download started');
    expect(new URL(visitor.page.url()).hash).toBe('');
    await visitor.page.reload();
    await visitor.button(/^Download .*\d+p/).waitFor();
  });

  it('that has no media starts no download of the next link', async () => {
    const visitor = await open(`${service.pageFor('/site/gone/download-link')}#download`);
    await visitor.heading('No longer available');
    await visitor.enter(link('/site/combined/other-link'));
    await visitor.button(/^Download .*\d+p/).waitFor();
    expect(await visitor.page.getByText('Download started').count()).toBe(0);
  });
});

describe('sharing', () => {
  it('shows a QR code and the address with the selected format', async () => {
    const visitor = await named.see(PATH);
    await visitor.choose('Video or sound', 'Sound');
    await visitor.choose('Format', 'MP3 192');
    await visitor.press('Share');
    await visitor.byRole('img', 'QR code for this link').waitFor();
    await visitor.page.evaluate(() =>
      Object.assign(navigator.clipboard, { writeText: () => Promise.reject(new Error('denied')) }),
    );
    await visitor.press('Copy link');
    const address = new URL(await visitor.page.getByLabel('Copy it here:').inputValue());
    const query = [...address.searchParams];
    expect([address.origin, ...query]).toEqual([
      'https://media.example',
      ['url', named.link(PATH)],
      ['quality', 'mp3'],
    ]);
  });

  it('is not possible where the server listens on its own machine', async () => {
    const visitor = await see(PATH);
    await visitor.press('Share');
    await visitor.announces('This page is only reachable on this computer.');
    expect(await visitor.byRole('img', /QR code/).count()).toBe(0);
    expect(await visitor.button('Copy link').count()).toBe(0);
  });

  it('opens the share sheet on touch screens and ignores its dismissal', async () => {
    const visitor = await named.see(PATH, { hasTouch: true, isMobile: true });
    const { page } = visitor;
    await page.evaluate(() =>
      Object.assign(navigator, {
        share(data: ShareData) {
          Object.assign(globalThis, { shared: data.url });
          return Promise.reject(new DOMException('dismissed', 'AbortError'));
        },
      }),
    );
    await visitor.press('Share');
    const shared = () => page.evaluate(() => (globalThis as { shared?: string }).shared);
    await eventually(shared).toContain('https://media.example/?url=');
    expect(await visitor.byRole('img', /QR code/).count()).toBe(0);
  });
});
