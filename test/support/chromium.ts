import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { itWith } from './clients.ts';
import { CHROMIUM as CHROMIUM_NAMES, findOnPath } from './on-path.ts';

/** The desktop program; `CHROMIUM_PATH` names one at another place. */
const CHROMIUM = process.env.CHROMIUM_PATH ?? CHROMIUM_NAMES.map(findOnPath).find((path) => path !== undefined);

/** The same engine without the interface of the desktop program: half the CPU time. */
const HEADLESS_SHELL = process.env.CHROMIUM_PATH ? undefined : findOnPath('chromium-headless-shell');

/** Whether this machine has Chromium. */
export const hasChromium = (HEADLESS_SHELL ?? CHROMIUM) !== undefined;

/** Whether it has the desktop program, which profiles and extensions need. */
export const hasDesktopChromium = CHROMIUM !== undefined;

/** `it` for tests in Chromium; skipped where it is not installed. */
export const itInChromium = itWith('chromium-headless-shell', hasChromium);

/** `it` for tests in the desktop program; skipped where it is not installed. */
export const itInDesktopChromium = itWith('chromium', hasDesktopChromium);

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
