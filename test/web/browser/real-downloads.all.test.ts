import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { startOwnService } from '../../contract/target.ts';
import { startOrigin } from '../../origin/server.ts';
import { afterFile } from '../../support/after-file.ts';
import { itInDesktopChromium } from '../../support/chromium.ts';
import { itInFirefox } from '../../support/firefox.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useDownloadingBrowser } from '../fixtures/downloading-browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { pathTo, untilPageIsBuilt } from '../fixtures/page.ts';

const dataDir = await temporaryFolder();
let origin: Awaited<ReturnType<typeof startOrigin>>;
let service: Awaited<ReturnType<typeof startOwnService>>;
/** Starts the service with its data, at another port than before. */
async function startService() {
  service = await startOwnService(origin, { dataDir });
  await untilPageIsBuilt(service.baseUrl);
}
beforeAll(async () => {
  origin = await startOrigin();
  afterFile(() => origin.close());
  afterFile(() => service.close());
  await startService();
});
const proxy = useFaultProxy(() => service.baseUrl);
const STREAMS = '/api/Stream/Media/';
/** Of `long.mp4`, which has 8.4 MB. */
const HELD_BYTES = 3_000_000;

const digest = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
const original = (name: string) => digest(join(origin.mediaDir, name));
const at = (path: string) => proxy.baseUrl + pathTo(origin.url(path));

describe.each([
  ['Chromium', itInDesktopChromium],
  ['Firefox', itInFirefox],
] as const)('downloads of %s', (name, it) => {
  const browser = useDownloadingBrowser(name);

  it('have name, length and bytes of the file, with one click', async () => {
    const tab = await browser.open(at('/site/combined/real'));
    await tab.press(/^Download .*720p/);
    const { filename, totalBytes } = await tab.until(({ state }) => state === 'complete');
    expect(basename(filename)).toBe('Ärtist Example - Größe “real” eins zwei (720p).mp4');
    expect(await digest(filename)).toBe(await original('ladder/both-720.mp4'));
    expect(totalBytes).toBe((await readFile(filename)).length);
    await tab.close();
  });

  it('continue at the exact byte after a pause, a lost connection, and a restart of the service', async () => {
    const before = proxy.requestsTo(STREAMS).length;
    proxy.hold(STREAMS, HELD_BYTES);
    const tab = await browser.open(at('/files/long.mp4'));
    await tab.press(/^Download ·/);
    await proxy.untilHeld();
    const { id } = await tab.until(({ bytesReceived }) => bytesReceived > 0);
    await tab.pause(id);
    await tab.until(({ paused, canResume }) => paused && canResume);
    // Chromium keeps the connection of a paused download, and the service lets open streams finish for 30 s before it ends.
    proxy.disconnectAll();
    await service.close();
    await startService();

    proxy.hold(STREAMS, HELD_BYTES);
    tab.resume(id);
    await proxy.untilHeld();
    proxy.disconnectAll();
    // Chromium continues by itself after a lost connection.
    const ended = await tab.until(({ state }) => state !== 'in_progress');
    if (ended.state === 'interrupted') tab.resume(id);
    const { filename } = await tab.until(({ state }) => state === 'complete');
    expect(await digest(filename)).toBe(await original('long.mp4'));
    const [first, ...others] = proxy.requestsTo(STREAMS).slice(before);
    // The browser's own request: no script of the page holds a byte, however large the file is.
    expect(first).toMatchObject({ 'sec-fetch-mode': 'navigate' });
    expect(first).not.toHaveProperty('range');
    expect(others).toHaveLength(2);
    for (const { range, 'if-range': ifRange, 'if-match': ifMatch } of others) {
      expect(range).toMatch(/^bytes=[1-9]\d*-$/);
      // Firefox sends its validator in If-Match, and compares that of the response.
      expect(ifRange ?? ifMatch).toMatch(/^"[\w-]+"$/);
    }
    await tab.close();
  });
});
