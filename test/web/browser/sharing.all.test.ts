import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, menuOf, sentenceOf, useBrowser } from '../fixtures/browser.ts';
import { useService, useServiceWith } from '../fixtures/service.ts';

const service = useService();
const named = useServiceWith(() => ({ publicUrl: 'https://media.example' }));
const { open } = useBrowser();
const pageFor = (path: string) => service.baseUrl + service.pageFor(path);

describe('a link with a format', () => {
  it('preselects that format without storing it', async () => {
    const { page } = await open(`${pageFor('/site/combined/with-format')}&quality=mp3`, { reusePage: true });
    await eventually(() => sentenceOf(page)).toMatch(/^Sound as MP3 192/);
    await page.goto(pageFor('/site/combined/without-format'));
    await eventually(() => sentenceOf(page)).toMatch(/^Video in 720p/);
  });

  it('starts its download once with #download', async () => {
    const { page } = await open(`${pageFor('/site/combined/download-link')}#download`, { reusePage: true });
    await page.getByRole('button', { name: /^Download .* again/ }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.reload();
    await page.getByRole('button', { name: /^Download \d+p/ }).waitFor();
  });

  it('starts no download of another link after #download of one that has none', async () => {
    const { page } = await open(`${pageFor('/site/gone/download-link')}#download`, { reusePage: true });
    await page.getByRole('heading', { name: 'No longer available' }).waitFor();
    await page.getByLabel('Link to a video').fill(service.origin.url('/site/combined/other-link'));
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Download \d+p/ }).waitFor();
    expect(await page.getByText('Download started').count()).toBe(0);
  });
});

describe('sharing', () => {
  it('shows a QR code and the address with the selected format', async () => {
    const link = service.origin.url('/site/combined/shared-item');
    const { page } = await open(named.baseUrl + named.pageFor('/site/combined/shared-item'), { reusePage: true });
    await menuOf(page, 'Video or sound').selectOption('Sound');
    await menuOf(page, 'Format').selectOption('MP3 192');
    const share = page.getByRole('button', { name: 'Share', exact: true });
    const before = await share.boundingBox();
    await share.click();
    await page.getByRole('img', { name: 'QR code for this link' }).waitFor();
    await page.evaluate(() =>
      Object.assign(navigator.clipboard, { writeText: () => Promise.reject(new Error('denied')) }),
    );
    await page.getByRole('button', { name: 'Copy link' }).click();
    const address = new URL(await page.getByLabel('Copy it here:').inputValue());
    expect([address.origin, ...address.searchParams]).toEqual([
      'https://media.example',
      ['url', link],
      ['quality', 'mp3'],
    ]);
    expect(await share.boundingBox()).toEqual(before);
  });

  it('says that other devices cannot open a page whose server listens on its own machine', async () => {
    const { page } = await open(pageFor('/site/combined/shared-item'), { reusePage: true });
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByRole('status').getByText('Other devices can’t open this page').waitFor();
    expect(await page.getByRole('img', { name: 'QR code for this link' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Copy link' }).count()).toBe(0);
  });

  it('opens the share sheet on touch screens and ignores its dismissal', async () => {
    const address = named.baseUrl + named.pageFor('/site/combined/shared-item');
    const { page } = await open(address, { hasTouch: true, isMobile: true });
    await page.evaluate(() =>
      Object.assign(navigator, {
        share(data: ShareData) {
          Object.assign(globalThis, { shared: data.url });
          return Promise.reject(new DOMException('dismissed', 'AbortError'));
        },
      }),
    );
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await eventually(() => page.evaluate(() => (globalThis as { shared?: string }).shared)).toContain(
      'https://media.example/?url=',
    );
    expect(await page.getByRole('img', { name: 'QR code for this link' }).count()).toBe(0);
  });
});
