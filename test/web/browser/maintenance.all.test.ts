import { afterEach, beforeAll, describe, expect } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { createState } from '../../../core/state/create-state.ts';
import type { State } from '../../../core/state/state.ts';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, useBrowser } from '../fixtures/browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const proxy = useFaultProxy(() => service.baseUrl);
const { open } = useBrowser();

const OWNER = 'a test';
const ACTIVITY = 'Updating yt-dlp to 2099.01.01';
let state: State;
beforeAll(() => {
  state = createState({ storage: service.storage, log: silentLog });
});
/** Settles when resolves are refused: the service remembers for a moment that it is not in maintenance. */
const begin = async () => {
  await state.takeMaintenance({ activity: ACTIVITY, owner: OWNER, expiresAt: Math.floor(Date.now() / 1000) + 120 });
  const resolve = `${service.baseUrl}/api/Fetch/GetResource?url=${encodeURIComponent(service.origin.url('/site/combined/ready'))}`;
  await eventually(async () => (await fetch(resolve)).status).toBe(503);
};
afterEach(async () => {
  for (const prefix of ['/api/Stream/', '/api/Fetch/']) proxy.refuse(prefix);
  await state.endMaintenance(OWNER);
});

const see = (path: string) => open(proxy.baseUrl + service.pageFor(path));

describe('during maintenance', () => {
  it('shows the progress of a tool in the language of the page, and continues afterwards', async () => {
    await begin();
    const { page, resolves } = await open(proxy.baseUrl, { locale: 'de' });
    const progress = { 'x-maintenance': 'step=fetch, tool="yt-dlp", received=12000000, total=34000000' };
    await page.route('**/api/App', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), ...progress } });
    });
    await page.goto(proxy.baseUrl + service.pageFor('/site/combined/patient'));
    await page.getByRole('heading', { name: 'Wird vorbereitet' }).waitFor();
    await page.getByText(/^yt-dlp wird geladen: 12,0\sMB von 34,0\sMB \(35\s%\)$/).waitFor();
    const bar = page.getByRole('progressbar');
    expect([await bar.getAttribute('value'), await bar.getAttribute('max')]).toEqual(['12000000', '34000000']);
    expect(await page.getByText(ACTIVITY).count()).toBe(0);
    expect(resolves()).toBe(1);
    await state.endMaintenance(OWNER);
    await page.getByRole('article').waitFor();
    expect(resolves()).toBe(2);
    expect(await page.getByText('Wird vorbereitet').count()).toBe(0);
  });

  it('stops waiting on request', async () => {
    await begin();
    const { page } = await see('/site/combined/impatient');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByText('Getting ready').count()).toBe(0);
    expect(new URL(page.url()).search).toBe('');
  });
});

describe('while the stream host starts', () => {
  const wakes = { status: 503, title: 'The stream host is starting', retryAfter: 1 };

  it('shows it in the player and plays once ready', async () => {
    const { page } = await see('/site/combined/asleep');
    await page.getByRole('article').waitFor();
    proxy.refuse('/api/Stream/', wakes);
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.getByRole('alert').getByText('Starting the server').waitFor();
    proxy.refuse('/api/Stream/');
    await eventually(() => page.$eval('video', (video) => (video as HTMLVideoElement).currentTime)).toBeGreaterThan(0);
    expect(await page.getByText('Starting the server').count()).toBe(0);
  });

  it('shows it in the download and starts once ready', async () => {
    const { page } = await see('/site/combined/asleep-too');
    proxy.refuse('/api/Stream/', wakes);
    const coming = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Download 720p/ }).click();
    await page.getByText('Starting the server').waitFor();
    proxy.refuse('/api/Stream/');
    await (await coming).path();
    await page.getByRole('button', { name: /^Download .* again/ }).waitFor();
  });
});

describe('when a site serves something only later', () => {
  it('counts down to the start', async () => {
    proxy.refuse('/api/Fetch/', { status: 503, type: '/problems/delayed', title: 'Not served yet', retryAfter: 5 });
    const { page } = await see('/site/combined/advertised');
    await page.getByText(/^The site lets this video start in \d s$/).waitFor();
    proxy.refuse('/api/Fetch/');
    await page.getByRole('article').waitFor();
  });
});

describe('when the instance responds with Retry-After', () => {
  it('counts down and retries', async () => {
    proxy.refuse('/api/Fetch/', { status: 429, title: 'Too Many Requests', retryAfter: 2 });
    const { page } = await see('/site/combined/eager');
    await page.getByRole('heading', { name: 'Too many requests' }).waitFor();
    await page.getByText(/^Retrying in \d s$/).waitFor();
    proxy.refuse('/api/Fetch/');
    await page.getByRole('article').waitFor();
  });

  it('shows a long wait in minutes', async () => {
    proxy.refuse('/api/Fetch/', { status: 429, title: 'Too Many Requests', retryAfter: 400 });
    const { page } = await see('/site/combined/patient-too');
    await page.getByText(/^Retrying in 6 min, \d+ sec$/).waitFor();
  });

  it('reports a wait of an hour instead of waiting', async () => {
    proxy.refuse('/api/Fetch/', { status: 429, title: 'Too Many Requests', retryAfter: 3600 });
    const { page } = await see('/site/combined/too-eager');
    await page.getByRole('heading', { name: 'Too many requests' }).waitFor();
    await page.getByText('Try again in 1 hr.', { exact: true }).waitFor();
    await page.getByRole('status').getByText('Try again in 1 hr').waitFor();
  });

  it('counts down in the download', async () => {
    const { page } = await see('/site/combined/download-pause');
    proxy.refuse('/api/Stream/', { status: 429, title: 'Too Many Requests', retryAfter: 30 });
    await page.getByRole('button', { name: /^Download 720p/ }).click();
    await page.getByText('Too many requests').waitFor();
    await page.getByText(/^Retrying in \d+ s$/).waitFor();
  });
});
