import type { Browser } from 'playwright-core';
import { launchDesktopChromium } from '../../test/support/chromium.ts';
import type { Case } from '../bench.ts';
import { median, unlessShort } from '../figures.ts';

const RUNS = unlessShort(5);
/** A slow phone: round trip, 1.6 Mbit/s down, 0.75 Mbit/s up, a quarter of this machine's speed. */
const NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const CPU_SLOWDOWN = 4;

interface FirstLoad {
  /** The field is painted: it takes text and submits it. */
  readonly fieldMs: number;
  /** On the wire, headers included. */
  readonly bytes: number;
}

/** The first load of the start page on a slow phone, without a cache. */
export const page: Case = async function* ({ service }) {
  const browser = await launchDesktopChromium();
  try {
    const loads: FirstLoad[] = [];
    for (let run = 0; run < RUNS; run += 1) loads.push(await load(browser, `${service.baseUrl}/`));
    const middle = (key: keyof FirstLoad) => median(loads.map((one) => one[key]));
    yield { what: 'page: field usable on a slow phone', ours: middle('fieldMs'), unit: 'ms', atMost: 1000 };
    yield { what: 'page: first load', ours: middle('bytes'), unit: 'bytes', atMost: 40_000 };
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
    await visit.goto(address, { waitUntil: 'networkidle' });
    // The first paint has the field: it is in the HTML. The code runs in the page, whose types this folder does not have.
    const firstPaint = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`;
    return { fieldMs: await visit.evaluate<number>(firstPaint), bytes };
  } finally {
    await context.close();
  }
}
