import { afterEach, describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { downloadFrom, useBrowser } from '../fixtures/browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const proxy = useFaultProxy(() => service.baseUrl);
const { open } = useBrowser();
afterEach(() => proxy.refuse('/api/Stream/'));

/** Downloads an item in a format that is not the preselected one, and returns to the start page. */
async function downloadAndReturn(id: string) {
  const { page } = await open(`${proxy.baseUrl}${service.pageFor(`/site/combined/${id}`)}&quality=mp3`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const name = (await downloadFrom(page.getByRole('button', { name: /^Download .*kbps/ }))).suggestedFilename();
  await page.getByRole('link', { name: 'Reelay, start page' }).click();
  const row = page.getByRole('listitem').filter({ hasText: id });
  return { page, name, row, again: row.getByRole('button', { name: /^Download .* again$/ }) };
}

describe('the list of recent links', () => {
  it('downloads the same file again, and copies the link', async () => {
    const { page, name, row, again } = await downloadAndReturn('kept');
    expect((await downloadFrom(again)).suggestedFilename()).toBe(name);
    await row.getByRole('button', { name: /^Copy the link of / }).click();
    await page.getByRole('status').getByText('Copied.').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(service.origin.url('/site/combined/kept'));
  });

  it('opens the link, and downloads it, once the address of the file has expired', async () => {
    const { page, again } = await downloadAndReturn('expired');
    proxy.refuse('/api/Stream/', { status: 404, title: 'Resource Not Found' });
    await again.click();
    await page.getByRole('article', { name: /expired/ }).waitFor();
    await page.getByRole('status').filter({ hasText: 'Link expired' }).waitFor();
    proxy.refuse('/api/Stream/');
    expect((await downloadFrom(page.getByRole('button', { name: /^Failed/ }))).suggestedFilename()).toContain(
      'expired',
    );
  });
});
