import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { id3TagBytes } from '@reelay/seekable-media/tags/id3';
import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { probeBody } from '../../support/media-tools.ts';
import { downloadFrom, eventually, menuOf, selectFormat, sentenceOf, useBrowser } from '../fixtures/browser.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();
const at = (address: string) => service.baseUrl + address;
const see = (path: string, options = {}) => open(at(service.pageFor(path)), { reusePage: true, ...options });
const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reelay-taking-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const original = (path: string) => readFile(join(service.origin.mediaDir, path));
const bytesOf = async (download: Download) => readFile(await download.path());
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

describe('renditions of an item', () => {
  it('are all listed on request', async () => {
    const { page, requests } = await see('/site/open/versions');
    await eventually(() => sentenceOf(page)).toBe('Video in 720p, English');
    expect(await menuOf(page, 'Quality').locator('option').allTextContents()).toEqual(['720p', '360p', '180p']);
    await page.getByText(/^All formats/).click();
    // `all` does not wait, and the list is rendered when it is opened.
    await page.getByRole('radio').first().waitFor();
    const radios = await page.getByRole('radio').all();
    const labels = await Promise.all(radios.map((radio) => radio.evaluate(nameOf)));
    expect(labels.slice(0, 8)).toEqual([
      ...[720, 360, 360, 180].map((height) => expect.stringMatching(`^${height}p`)),
      ...[320, 256, 192, 128].map((kbps) => expect.stringMatching(`^${kbps} kbps.*MP3`)),
    ]);
    expect(labels.slice(8).every((label) => /\d+ kbps|WAV|OPUS/.test(label))).toBe(true);
    expect(labels[0]).not.toMatch(/Some devices only/);
    expect(labels[3]).toMatch(/Some devices only/);
    // The pair has ranges, which one HEAD request tells.
    await eventually(() => requests.filter((request) => request.method() === 'HEAD').length).toBe(1);
    await page.waitForLoadState('networkidle');
    expect(await page.getByText(/No seeking/).count()).toBe(0);
  });

  it('marks a combined stream as not seekable', async () => {
    const { page } = await see('/hls/fields/index.m3u8');
    await page.getByText(/No seeking/).waitFor();
  });

  it('explains that a live stream is recorded until it is cancelled, and offers its last minutes', async () => {
    const { page } = await see('/live/index.m3u8');
    await page.getByText('Records from now until you cancel it.').waitFor();
    expect(await page.getByText(/No seeking/).count()).toBe(0);
    const download = await downloadFrom(button(page, 'Download the last 5 min'));
    expect(new URL(download.url()).search).toMatch(/[?&]segments=\d+-\d+/);
    const { codecs } = await probeBody(await bytesOf(download), '.mp4');
    expect(codecs.length).toBeGreaterThan(0);
    await page.getByText('Download started. See your browser’s downloads.').waitFor();
  });

  it('sends no HEAD request before a choice', async () => {
    const { page, requests } = await see('/site/combined/resumable');
    const heads = () => requests.filter((request) => request.method() === 'HEAD').length;
    await menuOf(page, 'Quality').waitFor();
    await page.waitForLoadState('networkidle');
    expect(heads()).toBe(0);
  });
});

describe('a rendition', () => {
  it('downloads the source file byte for byte', async () => {
    const { page } = await see('/site/combined/whole');
    const download = await downloadFrom(button(page, /^Download 720p/));
    expect(download.suggestedFilename()).toMatch(/^Ärtist Example - Größe .* \(720p\)\.mp4$/);
    expect((await bytesOf(download)).equals(await original('ladder/both-720.mp4'))).toBe(true);
    await button(page, /^Download .* again/).waitFor();
  });

  it.each([
    ['a combined stream', '/site/open/muxed', /^720p/, '.mp4', 'ftyp'],
    ['converted', '/site/music/converted', /^192 kbps.*MP3/, '.mp3', 'ID3'],
  ])('%s downloads completely', async (_, path, name, extension, magic) => {
    const { page } = await see(path);
    await selectFormat(page, name);
    const download = await downloadFrom(button(page, /^Download \d/));
    expect(download.suggestedFilename().endsWith(extension)).toBe(true);
    const bytes = await bytesOf(download);
    expect(bytes.subarray(0, 12).toString('latin1')).toContain(magic);
    expect(bytes.length).toBeGreaterThan(50_000);
    await button(page, /^Download .* again/).waitFor();
  });

  it('MP3 downloads with tags, in the bit rate that was selected last', async () => {
    const { page } = await see('/site/music/rates');
    await selectFormat(page, /^320 kbps/);
    await page.goto(at(service.pageFor('/site/music/remembered')));
    await eventually(() => sentenceOf(page)).toBe('Sound as MP3 320, English');
    const download = await downloadFrom(button(page, /^Download 320 kbps/));
    expect(download.suggestedFilename()).toMatch(/\(320 kbps\)\.mp3$/);
    const bytes = await bytesOf(download);
    expect(id3TagBytes(bytes)).toBe(65_536);
    // Bit rate index 14 of MPEG-1 Layer III (ISO/IEC 11172-3 §2.4.2.3).
    expect((bytes[65_538] ?? 0) >> 4).toBe(14);
  });

  it('AAC of a video downloads as M4A with tags', async () => {
    const { page } = await see('/site/combined/sound');
    await selectFormat(page, /^M4A/);
    const download = await downloadFrom(button(page, /^Download M4A/));
    expect(download.suggestedFilename()).toMatch(/sound.*\.m4a$/);
    const { codecs, tags } = await probeBody(await bytesOf(download), '.m4a');
    // The cover is a stream for FFmpeg.
    expect([codecs, tags.artist]).toEqual([['aac', 'mjpeg'], 'Ärtist Example']);
  });

  it('streams from the copied link', async () => {
    const { page } = await see('/site/combined/link', CLIPBOARD);
    await button(page, 'Copy media link').click();
    await page.getByRole('status').getByText('Copied.').waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link.startsWith(at('/api/Stream/Media/'))).toBe(true);
    const answer = await fetch(link);
    expect(Buffer.from(await answer.arrayBuffer()).equals(await original('ladder/both-720.mp4'))).toBe(true);
  });
});

describe('a playlist', () => {
  const entry = (id: string) => `Größe “${id}”: eins/zwei`;

  it('has nothing to download without a selection', async () => {
    const { page } = await see('/site/list/trip?n=3');
    await page.getByRole('heading', { name: 'List trip' }).waitFor();
    await button(page, 'Download 3').waitFor();
    await page.getByRole('checkbox', { name: 'Select all' }).uncheck();
    expect(await button(page, 'Download').and(page.locator('.primary')).isDisabled()).toBe(true);
  });

  it('downloads each entry in the selected format', async () => {
    const { page } = await see('/site/list/sound?n=2');
    await page.getByRole('checkbox', { name: `Select ${entry('sound-2')}` }).uncheck();
    await page.getByRole('combobox', { name: 'Format' }).selectOption('mp3');
    expect((await downloadFrom(button(page, 'Download 1'))).suggestedFilename()).toMatch(/sound-1.*\.mp3$/);
  });

  it('downloads or plays a single entry', async () => {
    const { page } = await see('/site/list/single?n=3');
    expect((await downloadFrom(button(page, `Download ${entry('single-2')}`))).suggestedFilename()).toMatch(
      /^2 - .*single-2/,
    );
    await button(page, `Play ${entry('single-1')}`)
      .first()
      .click();
    await eventually(() => page.$eval('video', (video) => (video as HTMLVideoElement).currentTime)).toBeGreaterThan(0);
  });

  it('expands the renditions of an entry', async () => {
    const { page } = await see('/site/list/open?n=2');
    await button(page, `Show formats ${entry('open-2')}`).click();
    await eventually(() => sentenceOf(page)).toMatch(/^Video in 720p/);
    await button(page, `Hide formats ${entry('open-2')}`).click();
    await eventually(() => menuOf(page, 'Quality').count()).toBe(0);
  });
});

/** The label text of a control. */
function nameOf(control: SVGElement | HTMLElement): string {
  return (control as HTMLInputElement).labels?.[0]?.innerText.replace(/\s+/g, ' ') ?? '';
}
