import type { Browser } from 'playwright-core';
import { launchDesktopChromium } from '../../test/support/chromium.ts';
import type { Case } from '../bench.ts';
import { median } from '../figures.ts';

const RUNS = 5;
/** A slow phone: round trip, 1.6 Mbit/s down, 0.75 Mbit/s up, a quarter of this machine's speed. */
const NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const CPU_SLOWDOWN = 4;

/** Runs in the page, whose types this folder does not have. The prerendered HTML has no footer. */
const MARK_SCRIPT = `new MutationObserver((_, observer) => {
  if (!document.querySelector('footer')) return;
  observer.disconnect();
  performance.mark('script');
}).observe(document, { childList: true, subtree: true });`;

interface FirstLoad {
  /** The field is painted: it takes text and submits it. */
  readonly fieldMs: number;
  /** The page's script has rendered. */
  readonly scriptMs: number;
  /** On the wire, headers included. */
  readonly bytes: number;
}

/** The first load of the start page on a slow phone, without a cache. */
export const page: Case = async function* ({ service }) {
  const browser = await launchDesktopChromium();
  try {
    const loads: FirstLoad[] = [];
    for (let run = 0; run < RUNS; run += 1) loads.push(await load(browser, `${service.baseUrl}/`));
    const figure = (what: string, key: keyof FirstLoad, unit: string, atMost?: number) => ({
      what,
      ours: median(loads.map((one) => one[key])),
      unit,
      atMost,
    });
    yield figure('page: field usable on a slow phone', 'fieldMs', 'ms', 1000);
    yield figure('page: script in charge on a slow phone', 'scriptMs', 'ms');
    yield figure('page: first load', 'bytes', 'bytes', 40_000);
  } finally {
    await browser.close();
  }
};

async function load(browser: Browser, address: string): Promise<FirstLoad> {
  const context = await browser.newContext({ locale: 'en', serviceWorkers: 'block' });
  try {
    const visit = await context.newPage();
    const session = await context.newCDPSession(visit);
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', NETWORK);
    await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
    await visit.addInitScript({ content: MARK_SCRIPT });
    await visit.goto(address, { waitUntil: 'networkidle' });
    const at = (name: string) =>
      visit.evaluate<number>(`performance.getEntriesByName(${JSON.stringify(name)})[0]?.startTime ?? NaN`);
    // The first paint has the field: it is in the HTML.
    return { fieldMs: await at('first-contentful-paint'), scriptMs: await at('script'), bytes };
  } finally {
    await context.close();
  }
}
