import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type AxeCore from 'axe-core';
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { itInFirefox } from '../../support/firefox.ts';
import { eventually, useBrowser } from '../fixtures/browser.ts';
import { useFirefox } from '../fixtures/firefox.ts';
import { useService, useServiceWith } from '../fixtures/service.ts';

/** Sites of others: pages that frame the address behind their `?`, and say when the frame has loaded something. */
const sites: Server[] = [];
let [allowed, refused] = ['', ''];
beforeAll(async () => {
  for (let count = 0; count < 2; count++) {
    const site = createServer(({ url = '' }, response) => {
      const address = decodeURIComponent(url.split('?')[1] ?? '').replaceAll('"', '');
      const html = `<!doctype html><title>waiting</title><iframe width="640" height="360" src="${address}" onload="document.title = 'loaded'"></iframe>`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(address ? html : '');
    });
    await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
    sites.push(site);
  }
  [allowed = '', refused = ''] = sites.map((site) => `http://127.0.0.1:${(site.address() as AddressInfo).port}`);
});
afterAll(async () => {
  for (const site of sites) {
    site.closeAllConnections();
    await new Promise((done) => void site.close(done));
  }
});

const service = useServiceWith(() => ({ embedOrigins: [allowed] }));
const closed = useService();
const { open } = useBrowser();
const firefox = useFirefox();

async function playerOf(path: string, baseUrl = service.baseUrl): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/Fetch/GetResource?url=${encodeURIComponent(service.origin.url(path))}`);
  const { mediaItems } = (await answer.json()) as { mediaItems: { video: { bestQualityKey: string } }[] };
  return `${baseUrl}/embed/${mediaItems[0]?.video.bestQualityKey}`;
}
const framing = (site: string, player: string) => `${site}/?${encodeURIComponent(player)}`;
const innerFrame = (page: Page): Frame => page.frames()[1] ?? expect.fail('No frame');
const clock = (frame: Frame) => frame.$eval('video', ({ currentTime }) => currentTime);

describe('a player in a page of an allowed site', () => {
  it('has title, picture, captions and a source that can be sought in', async () => {
    const { page, requests } = await open(framing(allowed, await playerOf('/site/detailed/framed')));
    const frame = innerFrame(page);
    await frame.getByRole('heading', { name: 'Größe “framed”: eins/zwei' }).waitFor();
    const video = frame.locator('video');
    expect(await video.getAttribute('poster')).toContain('/api/Stream/Cover/');
    // Nothing is read from the source before someone plays it.
    expect(requests.filter((request) => request.url().includes('/api/Stream/Media/'))).toEqual([]);
    const cues = await video.locator('track[srclang=en]').evaluate(async (element) => {
      const { track } = element as HTMLTrackElement;
      const loaded = new Promise((resolve) => element.addEventListener('load', resolve, { once: true }));
      track.mode = 'showing';
      await loaded;
      return [track.label, track.cues?.length];
    });
    expect(cues).toEqual(['English', expect.any(Number)]);
    expect(await video.locator('track').last().getAttribute('label')).toBe('German');
    await video.evaluate(async (media) => {
      const { currentTime } = media as HTMLVideoElement;
      (media as HTMLVideoElement).muted = true;
      await (media as HTMLVideoElement).play();
      if (currentTime > 0) throw new Error('It has played before');
    });
    await eventually(() => clock(frame)).toBeGreaterThan(0);
    await eventually(() => frame.getByRole('heading').isVisible()).toBe(false);
    await video.evaluate((media) => {
      (media as HTMLVideoElement).currentTime = 5;
    });
    await eventually(() => clock(frame)).toBeGreaterThan(5);
  });

  it('begins where #t says', async () => {
    const { page } = await open(framing(allowed, `${await playerOf('/files/long.mp4')}#t=120`));
    await eventually(() => clock(innerFrame(page))).toBe(120);
  });

  it('says that nothing plays with an unknown key, and asks again on request', async () => {
    const { page } = await open(framing(allowed, `${service.baseUrl}/embed/nothing`));
    const frame = innerFrame(page);
    await frame.getByRole('alert').getByText('This can’t be played right now.').waitFor();
    const again = page.waitForRequest((request) => request.url().endsWith('/api/Stream/Item/nothing'));
    await frame.getByRole('button', { name: 'Try again' }).click();
    await again;
  });

  it('waits while the host of streams starts', async () => {
    const { page } = await open('about:blank');
    let refusals = 0;
    await page.route('**/api/Stream/Item/*', (route) => {
      if (refusals > 0) return route.continue();
      refusals++;
      return route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: { title: 'Starting', status: 503 } });
    });
    await page.goto(framing(allowed, await playerOf('/files/clip.mp4')));
    await innerFrame(page).locator('video[src]').waitFor();
    expect(refusals).toBe(1);
  });

  it('is accessible, also when nothing plays', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const { page } = await open('about:blank');
    for (const [address, shown] of [
      [await playerOf('/site/detailed/accessible'), 'h1:not(:empty)'],
      [`${service.baseUrl}/embed/nothing`, 'button'],
    ] as const) {
      await page.goto(address);
      await page.locator(shown).waitFor();
      await page.evaluate(axe);
      const violations = await page.evaluate(async () => {
        const { axe } = globalThis as unknown as { axe: typeof AxeCore };
        const { violations } = await axe.run(document, { preload: { assets: ['cssom'] } });
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
      });
      expect(violations).toEqual([]);
    }
  });

  itInFirefox('plays in Firefox', async () => {
    const { page } = await firefox.open(framing(allowed, await playerOf('/site/detailed/firefox')));
    const frame = page.frames()[1] ?? expect.fail('No frame');
    await frame.waitForSelector('video[src] track');
    await frame.$eval('video', (video) => {
      video.muted = true;
      video.currentTime = 5;
      return video.play();
    });
    await eventually(() => frame.$eval('video', ({ currentTime }) => currentTime)).toBeGreaterThan(5);
  });
});

describe('a player in a page of another site', () => {
  const expectedErrors = /frame-ancestors/;

  it('is not shown', async () => {
    const player = await playerOf('/files/clip.mp4');
    const { page, requests } = await open(framing(refused, player), { expectedErrors });
    await eventually(() => innerFrame(page).url()).toMatch(/^chrome-error:/);
    expect(requests.filter((request) => request.url().includes('/api/Stream/'))).toEqual([]);
  });

  itInFirefox('is not shown in Firefox', async () => {
    const { page } = await firefox.open(framing(refused, await playerOf('/files/clip.mp4')), { expectedErrors });
    await eventually(() => page.title()).toBe('loaded');
    expect(
      await page
        .frames()[1]
        ?.$('video')
        .catch(() => null),
    ).toBeNull();
  });

  it('does not exist without the setting', async () => {
    const { status, headers } = await fetch(await playerOf('/files/clip.mp4', closed.baseUrl));
    expect(status).toBe(404);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
  });
});
