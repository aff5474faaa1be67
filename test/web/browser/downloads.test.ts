import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Download, Page } from 'playwright-core';
import { beforeEach, describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, type OpenOptions, selectFormat, useBrowser } from '../fixtures/browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const proxy = useFaultProxy(() => service.baseUrl);
const { open } = useBrowser();

const STREAMS = '/api/Stream/';
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const originalOf = async (path: string) => sha256(await readFile(join(service.origin.mediaDir, path)));
const digestOf = async (download: Download) => sha256(await readFile(await download.path()));

let before = 0;
beforeEach(() => {
  before = proxy.rangesOf(STREAMS).length;
});
/** Range headers of this test's stream requests. */
const ranges = () => proxy.rangesOf(STREAMS).slice(before);

/** WebM and MP4 together have no layout: they are muxed while they are sent, without ranges. */
const MUXED = /^360p.*VP9/;

/** Opens a link and starts a download. */
async function take(path: string, version: RegExp, options?: OpenOptions) {
  const { page } = await open(proxy.baseUrl + service.pageFor(path), options);
  if (version === MUXED) await page.getByRole('button', { name: /^All formats/ }).click();
  await selectFormat(page, version);
  const files: Download[] = [];
  page.on('download', (file) => files.push(file));
  const act = (name: RegExp) => page.getByRole('button', { name }).click();
  await act(/^Download ./);
  return { page, files, act, says: (text: string) => page.getByText(text, { exact: true }).waitFor() };
}

const isUnderWay = (page: Page) =>
  eventually(() => page.getByRole('progressbar').evaluate((bar) => (bar as HTMLProgressElement).value)).toBeGreaterThan(
    0,
  );

/** Names of all files in the origin private file system. */
const kept = (page: Page) =>
  page.evaluate(async () => {
    const names: string[] = [];
    const look = async (folder: FileSystemDirectoryHandle) => {
      for await (const [name, entry] of folder.entries()) {
        if (entry.kind === 'file') names.push(name);
        else await look(entry as FileSystemDirectoryHandle);
      }
    };
    await look(await navigator.storage.getDirectory());
    return names;
  });

describe('a download', () => {
  it('shows progress, pauses and resumes at the exact byte', async () => {
    proxy.hold(STREAMS, 300_000);
    const { page, files, act, says } = await take('/files/long.mp4', /MP4/);
    await isUnderWay(page);
    await page.getByText(/ of \d+(\.\d)? MB/).waitFor();
    const share = await page.getByRole('progressbar').evaluate((bar) => (bar as HTMLProgressElement).value);
    expect(share).toBeLessThan(1);
    await act(/^Pause /);
    await says('Paused');
    // A paused download holds no connection.
    await eventually(() => proxy.open).toBe(0);
    await act(/^Resume /);
    await says('Saved');
    await eventually(() => files.length).toBe(1);
    expect(await Promise.all(files.map(digestOf))).toEqual([await originalOf('long.mp4')]);
    const [whole, rest = '', ...more] = ranges();
    expect([whole, more]).toEqual([undefined, []]);
    const [, first] = /^bytes=(\d+)-$/.exec(rest) ?? [];
    expect(Number(first)).toBeGreaterThan(0);
    expect(Number(first)).toBeLessThanOrEqual(300_000);
  });

  it('resumes when its connection is lost', async () => {
    proxy.hold(STREAMS, 300_000);
    const { page, files, says } = await take('/files/long.mp4', /MP4/);
    await isUnderWay(page);
    await proxy.disconnect();
    await says('Saved');
    await eventually(() => files.length).toBe(1);
    expect(await Promise.all(files.map(digestOf))).toEqual([await originalOf('long.mp4')]);
    expect(ranges()).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
  });

  it('resumes a pair when its connection is lost', async () => {
    proxy.hold(STREAMS, 300_000);
    const { page, files, says } = await take('/site/open/broken', /^720p/);
    await isUnderWay(page);
    await proxy.disconnect();
    await says('Saved');
    await eventually(() => files.length).toBe(1);
    expect(ranges()).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
    const [whole] = await Promise.all(files.map(digestOf));
    const link = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => name)
        .find((name) => name.includes('/api/Stream/Media/')),
    );
    expect(whole).toBe(sha256(Buffer.from(await (await fetch(link ?? '')).arrayBuffer())));
  });

  it('keeps the connection of a stream without ranges while paused', async () => {
    proxy.hold(STREAMS, 200_000);
    const { page, files, act, says } = await take('/site/open/muxed', MUXED);
    await isUnderWay(page);
    await act(/^Pause /);
    await says('Paused');
    await proxy.release();
    await act(/^Resume /);
    await says('Saved');
    await eventually(() => files.length).toBe(1);
    expect(ranges()).toEqual([undefined]);
  });

  it('reports an interrupted stream without ranges and saves no partial file', async () => {
    proxy.hold(STREAMS, 200_000);
    const { page, files, act, says } = await take('/site/open/muxed', MUXED);
    await isUnderWay(page);
    await proxy.disconnect();
    await says('Connection lost');
    await says('This format can’t be resumed. Trying again starts over.');
    expect(files).toEqual([]);
    await act(/^Retry /);
    await says('Saved');
    await eventually(() => files.length).toBe(1);
    expect(ranges()).toEqual([undefined, undefined]);
  });

  it('removes its data when cancelled', async () => {
    proxy.hold(STREAMS, 300_000);
    const { page, files, act, says } = await take('/files/long.mp4', /MP4/);
    await isUnderWay(page);
    expect((await kept(page)).length).toBeGreaterThan(0);
    await act(/^Cancel /);
    await says('Cancelled');
    await eventually(() => kept(page)).toEqual([]);
    await eventually(() => proxy.open).toBe(0);
    expect(files).toEqual([]);
    await act(/^Remove /);
    await page.getByRole('heading', { name: 'Downloads' }).waitFor({ state: 'detached' });
  });

  it('clears a failed download with its partial data, and only ended downloads', async () => {
    proxy.hold(STREAMS, 200_000);
    const { page, act, says } = await take('/site/open/muxed', MUXED);
    await isUnderWay(page);
    expect(await page.getByRole('button', { name: 'Clear finished' }).count()).toBe(0);
    await proxy.disconnect();
    await says('Connection lost');
    expect((await kept(page)).length).toBeGreaterThan(0);
    await act(/^Clear finished$/);
    await eventually(() => kept(page)).toEqual([]);
    await page.getByRole('heading', { name: 'Downloads' }).waitFor({ state: 'detached' });
  });
});

describe("a file handed to the browser's downloads", () => {
  it('remains available until a location is chosen', async () => {
    const { page, context } = await open('about:blank');
    await context.addInitScript(() => {
      const handed = { out: 0, back: 0 };
      const { createObjectURL, revokeObjectURL } = URL;
      Object.assign(globalThis, { handed });
      Object.assign(URL, {
        createObjectURL: (file: Blob) => {
          handed.out++;
          return createObjectURL(file);
        },
        revokeObjectURL: (address: string) => {
          handed.back++;
          revokeObjectURL(address);
        },
      });
    });
    await page.clock.install();
    await page.goto(proxy.baseUrl + service.pageFor('/site/combined/late'));
    await page.getByRole('button', { name: /^Download 720p/ }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.clock.fastForward('30:00');
    expect(await page.evaluate(() => (globalThis as unknown as { handed: object }).handed)).toEqual({
      out: 1,
      back: 0,
    });
  });
});

describe('an endless stream', () => {
  it('stops on request and saves what was received', async () => {
    const { page, files, act, says } = await take('/live/radio.mp3', /MP3/);
    await act(/^Stop .* and save what was received$/);
    await says('Saved');
    await eventually(() => files.length).toBe(1);
    const [file] = files;
    const bytes = await readFile((await file?.path()) ?? '');
    // The stream repeats the tone.
    const tone = await readFile(join(service.origin.mediaDir, 'tone.mp3'));
    expect(bytes.subarray(0, tone.length).equals(tone.subarray(0, bytes.length))).toBe(true);
    expect(bytes.length).toBeGreaterThan(0);
    await eventually(() => proxy.open).toBe(0);
    await page.getByRole('button', { name: /^Stop .* and save/ }).waitFor({ state: 'detached' });
  });
});

describe('a file chosen with the picker', () => {
  /** Replaces the native picker: returns a file of the origin private file system. */
  async function openWithPicker(path: string) {
    const { page, context } = await open(`${proxy.baseUrl}/`, { withoutPicker: false });
    await context.addInitScript(() =>
      Object.assign(globalThis, {
        showSaveFilePicker: async ({ suggestedName }: { suggestedName: string }) => {
          if (!navigator.userActivation.isActive) throw new DOMException('Not in a click', 'SecurityError');
          const root = await navigator.storage.getDirectory();
          return root.getFileHandle(suggestedName, { create: true });
        },
      }),
    );
    await page.goto(proxy.baseUrl + service.pageFor(path));
    return page;
  }
  async function takeTo(path: string, version: RegExp) {
    const page = await openWithPicker(path);
    await selectFormat(page, version);
    await page.getByRole('button', { name: /^Download ./ }).click();
    return page;
  }

  it('shows how many entries of an archive without length are done', async () => {
    // Entries of HLS have about 570 KB each.
    proxy.hold('/api/Stream/Archive/', 900_000);
    const page = await openWithPicker('/site/list/archive?n=3&kind=hls-referer');
    await page.getByRole('link', { name: 'Whole list as ZIP' }).click();
    await page.getByText(/^Entries: 1 of 3 /).waitFor();
    expect(await page.getByRole('progressbar').evaluate((bar) => (bar as HTMLProgressElement).value)).toBeCloseTo(
      1 / 3,
    );
    await proxy.release();
    await page.getByText('Saved', { exact: true }).waitFor();
    const [name = '', ...more] = await kept(page);
    expect([name, more]).toEqual(['List Example - List archive.zip', []]);
    const text = await page.evaluate(async (fileName) => {
      const handle = await (await navigator.storage.getDirectory()).getFileHandle(fileName);
      return new TextDecoder('latin1').decode((await (await handle.getFile()).arrayBuffer()).slice(-3_000));
    }, name);
    expect(text).toContain('3 entries in the list, 3 in this archive, 0 missing');
  });

  it('contains the exact bytes after a lost connection', async () => {
    proxy.hold(STREAMS, 300_000);
    const page = await takeTo('/files/long.mp4', /MP4/);
    await isUnderWay(page);
    await proxy.disconnect();
    await page.getByText('Saved', { exact: true }).waitFor();
    const [name = '', ...more] = await kept(page);
    expect(more).toEqual([]);
    expect(name).toMatch(/\.mp4$/);
    const digest = await page.evaluate(async (fileName) => {
      const handle = await (await navigator.storage.getDirectory()).getFileHandle(fileName);
      const bytes = await (await handle.getFile()).arrayBuffer();
      return [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))];
    }, name);
    expect(Buffer.from(digest).toString('hex')).toBe(await originalOf('long.mp4'));
  });

  it('is removed when the download is cancelled', async () => {
    proxy.hold(STREAMS, 300_000);
    const page = await takeTo('/files/long.mp4', /MP4/);
    await isUnderWay(page);
    await page.getByRole('button', { name: /^Cancel / }).click();
    await page.getByText('Cancelled', { exact: true }).waitFor();
    await eventually(() => kept(page)).toEqual([]);
  });
});
