import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { itWith } from './clients.ts';

/** The browser of this machine; `CHROMIUM_PATH` names one at another place. */
const CHROMIUM = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path && existsSync(path));

/** The same engine without the interface of the desktop program: half the CPU time. */
const HEADLESS_SHELL = process.env.CHROMIUM_PATH
  ? undefined
  : ['/usr/bin/chromium-headless-shell'].find((path) => existsSync(path));

/** `it` for tests in Chromium; skipped with a warning where it is not installed. */
export const itInChromium = itWith('chromium', CHROMIUM !== undefined);

/** Whether this machine has Chromium. */
export const hasChromium = CHROMIUM !== undefined;

/**
 * Starts Chromium without requests of its own, as the headless shell where that is installed.
 * @param disabledFeatures of Chromium, besides DISABLED_FEATURES
 */
export async function launchChromium(...disabledFeatures: string[]): Promise<Browser> {
  return chromium.launch({ executablePath: HEADLESS_SHELL ?? installed(), args: defaultFlags(disabledFeatures) });
}

/** Starts the desktop program, for measurements. */
export const launchDesktopChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: installed(), args: defaultFlags() });

/** A browser with a profile folder, which extensions need. @param flags more of them */
export async function launchChromiumProfile(folder: string, ...flags: string[]): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, {
    executablePath: installed(),
    args: [...defaultFlags(), '--headless=new', ...flags],
    // Its default arguments disable extensions.
    ignoreDefaultArgs: ['--disable-extensions', '--disable-component-extensions-with-background-pages'],
  });
}

const defaultFlags = (disabledFeatures: readonly string[] = []): string[] => [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  `--disable-features=${[...DISABLED_FEATURES, ...disabledFeatures].join()}`,
];

/** Chromium applies only the last `--disable-features`, so Playwright's own list (1.65) comes first. */
const DISABLED_FEATURES = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  // Suggestions of the address bar: two hidden pages per window, 0.5 s of CPU.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  // A second renderer per navigation, started in case the next one needs it.
  'SpareRendererForSitePerProcess',
];

function installed(): string {
  if (!CHROMIUM) throw new Error('There is no Chromium on this machine');
  return CHROMIUM;
}
