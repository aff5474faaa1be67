import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Download, Page } from 'playwright-core';
import { afterEach, describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, selectFormat, useBrowser } from '../fixtures/browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const proxy = useFaultProxy(() => service.baseUrl);
const { open } = useBrowser();
afterEach(() => proxy.refuse('/api/Stream/'));

const at = (path: string) => proxy.baseUrl + service.pageFor(path);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const primary = (page: Page) => page.locator('.actions .primary');
const says = (page: Page, text: string) => page.locator('.download-figures').getByText(text, { exact: true });

async function startLong(page: Page): Promise<void> {
  proxy.hold('/api/Stream/', 300_000);
  await selectFormat(page, /MP4/);
  await primary(page).click();
  await page.getByText(/ of \d+(\.\d)? MB/).waitFor();
}

describe('the download button', () => {
  it('shows progress, then that the file is saved', async () => {
    const { page } = await open(at('/files/long.mp4'));
    await startLong(page);
    await eventually(() => primary(page).innerText()).toMatch(/^\d+%/);
    await proxy.release();
    await eventually(() => primary(page).innerText()).toMatch(/^Saved/);
    await page.locator('.tray').getByText('All done').waitFor();
  });

  it('shows a failure and retries', async () => {
    const { page } = await open(at('/site/combined/fails'));
    await page.getByRole('article').waitFor();
    proxy.refuse('/api/Stream/', { status: 502, title: 'Fetch Failed' });
    await primary(page).click();
    await eventually(() => primary(page).innerText()).toMatch(/^Failed\. Try again/);
    await page.locator('.tray').getByText('1 failed').waitFor();
    proxy.refuse('/api/Stream/');
    await primary(page).click();
    await eventually(() => primary(page).innerText()).toMatch(/^Saved/);
  });

  it('is pressed by Enter in the link field', async () => {
    const { page } = await open(`${proxy.baseUrl}/`);
    await page.locator('input:focus').waitFor();
    await page.keyboard.type(service.origin.url('/site/combined/entered'));
    await page.keyboard.press('Enter');
    await page.getByRole('article').waitFor();
    const coming = page.waitForEvent('download');
    await page.keyboard.press('Enter');
    expect((await coming).suggestedFilename()).toMatch(/entered.* \(720p\)\.mp4$/);
  });
});

describe('the download tray', () => {
  it('stays in view until it is cleared, and collapses', async () => {
    const { page } = await open(at('/site/combined/tray'));
    await primary(page).click();
    await says(page, 'Saved').waitFor();
    const tray = page.locator('.tray');
    await page.getByRole('textbox').fill(service.origin.url('/site/combined/other'));
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: /other/ }).waitFor();
    const bottom = () => tray.evaluate((element) => element.getBoundingClientRect().bottom);
    await eventually(bottom).toBeCloseTo(page.viewportSize()?.height ?? 0, 0);
    await page.getByRole('button', { name: 'Collapse downloads' }).click();
    expect(await page.locator('.download').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Expand downloads' }).click();
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await tray.waitFor({ state: 'detached' });
  });

  it('is collapsed at first on a phone', async () => {
    const { page } = await open(at('/site/combined/phone'), { viewport: { width: 390, height: 844 } });
    await primary(page).click();
    await page.getByText('All done').waitFor();
    expect(await page.locator('.download').isVisible()).toBe(false);
  });

  it('changes the order of the queue and cancels all', async () => {
    proxy.refuse('/api/Stream/', { status: 503, title: 'Starting', retryAfter: 60 });
    const { page } = await open(at('/site/list/all?n=4'));
    await page.getByRole('button', { name: 'Download all (4)' }).click();
    const summary = page.locator('.tray-summary');
    await eventually(() => summary.innerText()).toBe('2 running · 2 queued');
    const names = page.locator('.download-name');
    const [, , third, fourth] = await names.allTextContents();
    await page.getByRole('button', { name: `Move ${fourth} up` }).click();
    await eventually(() => names.allTextContents()).toMatchObject({ 2: fourth, 3: third });
    await page.getByRole('button', { name: `Move ${fourth} up` }).click();
    // Above it are running ones.
    expect((await names.allTextContents())[2]).toBe(fourth);
    await page
      .getByRole('button', { name: /^Cancel / })
      .first()
      .click();
    await page
      .getByText(`Download of ${fourth}`)
      .or(page.getByRole('progressbar', { name: `Download of ${fourth}` }))
      .waitFor();
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await page.getByRole('button', { name: 'Clear finished' }).click();
    await page.locator('.tray').waitFor({ state: 'detached' });
  });

  it('retries all that failed', async () => {
    proxy.refuse('/api/Stream/', { status: 502, title: 'Fetch Failed' });
    const { page } = await open(at('/site/list/failing?n=2'));
    await page.getByRole('button', { name: 'Download all (2)' }).click();
    await eventually(() => page.locator('.tray-summary').innerText()).toBe('2 failed');
    proxy.refuse('/api/Stream/');
    await page.getByRole('button', { name: 'Retry failed' }).click();
    await eventually(() => says(page, 'Saved').count()).toBe(2);
  });

  it('reports a lost connection, not an unreachable server', async () => {
    const { page } = await open(at('/files/long.mp4'));
    await startLong(page);
    proxy.refuse('/api/Stream/', { status: 502, title: 'Fetch Failed' });
    await proxy.disconnect();
    await page
      .locator('.tray')
      .getByText(/Connection lost|The site stopped responding/)
      .waitFor();
    // What was received is still shown.
    await page
      .locator('.download-figures')
      .getByText(/^[1-9]\d*(\.\d)? [kM]B of/)
      .waitFor();
    proxy.refuse('/api/Stream/');
    await says(page, 'Saved').waitFor();
  });
});

describe('after a reload', () => {
  it('a running download continues at the exact byte', async () => {
    const { page } = await open(at('/files/long.mp4'));
    const files: Download[] = [];
    page.on('download', (file) => files.push(file));
    await startLong(page);
    // The parts on disk are complete once paused.
    await page.getByRole('button', { name: /^Pause / }).click();
    await says(page, 'Paused').waitFor();
    await eventually(() => proxy.open).toBe(0);
    const before = proxy.rangesOf('/api/Stream/').length;
    await page.reload();
    await says(page, 'Paused').waitFor();
    await page.getByRole('button', { name: /^Resume / }).click();
    await says(page, 'Saved').waitFor();
    await eventually(() => files.length).toBe(1);
    const [file] = files;
    const original = await readFile(join(service.origin.mediaDir, 'long.mp4'));
    expect(sha256(await readFile((await file?.path()) ?? ''))).toBe(sha256(original));
    expect(proxy.rangesOf('/api/Stream/').slice(before)).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
    await page.reload();
    await page.getByRole('article').waitFor();
    expect(await page.locator('.tray').count()).toBe(0);
  });

  it('queued downloads continue by themselves', async () => {
    proxy.refuse('/api/Stream/', { status: 503, title: 'Starting', retryAfter: 60 });
    const { page } = await open(at('/site/list/queued?n=3'));
    await page.getByRole('button', { name: 'Download all (3)' }).click();
    await eventually(() => page.locator('.tray-summary').innerText()).toBe('2 running · 1 queued');
    proxy.refuse('/api/Stream/');
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await eventually(() => says(page, 'Saved').count()).toBe(3);
  });

  it('unresolved entries of a playlist are resolved and downloaded', async () => {
    const { page } = await open(`${proxy.baseUrl}/`);
    await page.route(/GetResource.*list%2Funresolved/, async (route) => {
      const answer = await route.fetch();
      const list = await answer.json();
      const mediaItems = list.mediaItems.map(({ video: _, audio: __, ...entry }: Record<string, unknown>) => entry);
      await route.fulfill({ response: answer, json: { ...list, mediaItems } });
    });
    await page.getByRole('textbox').fill(service.origin.url('/site/list/unresolved?n=3'));
    await page.keyboard.press('Enter');
    proxy.refuse('/api/Stream/', { status: 503, title: 'Starting', retryAfter: 60 });
    await page.getByRole('button', { name: 'Download all (3)' }).click();
    await eventually(() => page.locator('.tray-summary').innerText()).toBe('2 running · 1 queued');
    proxy.refuse('/api/Stream/');
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await eventually(() => says(page, 'Saved').count()).toBe(3);
    const names = await page.locator('.download-name').allTextContents();
    expect(names.sort()).toEqual([1, 2, 3].map((number) => expect.stringMatching(new RegExp(`^${number} - `))));
  });

  it('a failed download is tried again', async () => {
    const { page } = await open(at('/site/combined/listed'));
    await page.getByRole('article').waitFor();
    proxy.refuse('/api/Stream/', { status: 502, title: 'Fetch Failed' });
    await primary(page).click();
    await page.locator('.tray').getByText('1 failed').waitFor();
    proxy.refuse('/api/Stream/');
    await page.reload();
    await says(page, 'Saved').waitFor();
  });
});
