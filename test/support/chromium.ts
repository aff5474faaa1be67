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

/** `it` for tests in Chromium; skipped with a warning where it is not installed. */
export const itInChromium = itWith('chromium', CHROMIUM !== undefined);

/** Whether this machine has Chromium. */
export const hasChromium = CHROMIUM !== undefined;

/** Starts Chromium without requests of its own. @param flags additional command line flags */
export async function launchChromium(...flags: string[]): Promise<Browser> {
  return chromium.launch({ executablePath: installed(), args: [...QUIET, ...flags] });
}

/** A browser with a profile folder, which extensions need. @param flags more of them */
export async function launchChromiumProfile(folder: string, ...flags: string[]): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, {
    executablePath: installed(),
    args: [...QUIET, '--headless=new', ...flags],
    // Its default arguments disable extensions.
    ignoreDefaultArgs: ['--disable-extensions', '--disable-component-extensions-with-background-pages'],
  });
}

const QUIET = ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--no-first-run'];

function installed(): string {
  if (!CHROMIUM) throw new Error('There is no Chromium on this machine');
  return CHROMIUM;
}
