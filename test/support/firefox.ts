import type { Browser } from 'puppeteer-core';
import { itWith } from './clients.ts';
import { findOnPath } from './on-path.ts';

/** The browser of this machine; `FIREFOX_PATH` names one at another place. */
const FIREFOX = process.env.FIREFOX_PATH ?? findOnPath('firefox-esr') ?? findOnPath('firefox');

/** `it` for tests in Firefox; skipped where it is not installed. */
export const itInFirefox = itWith('firefox-esr', FIREFOX !== undefined);

/** Whether this machine has Firefox. */
export const hasFirefox = FIREFOX !== undefined;

/** Firefox checks for updates, captive portals and its own services: tests reach the loopback interface only. */
const OFFLINE = {
  'app.update.auto': false,
  'browser.safebrowsing.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'http://127.0.0.1:9',
};

/** Half the CPU time: fewer frames, no animation of the window, and no process that only waits for a page. */
const FRUGAL = {
  'layout.frame_rate': 10,
  'ui.prefersReducedMotion': 1,
  'fission.autostart': false,
  'dom.ipc.processCount': 1,
  'dom.ipc.processPrelaunch.enabled': false,
};

/** On a busy machine: creating its profile alone takes seconds. */
const START_TIMEOUT_MS = 110_000;

/**
 * Starts Firefox, driven by WebDriver BiDi. Media plays without a click.
 * @param prefs preferences as in `about:config`
 */
export async function launchFirefox(prefs: Record<string, unknown> = {}): Promise<Browser> {
  if (!FIREFOX) throw new Error('There is no Firefox on this machine');
  const { default: puppeteer } = await import('puppeteer-core');
  return puppeteer.launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    timeout: START_TIMEOUT_MS,
    extraPrefsFirefox: { ...OFFLINE, ...FRUGAL, 'media.autoplay.default': 0, ...prefs },
  });
}
