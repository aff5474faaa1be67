import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { afterFile } from '../../../support/after-file.ts';
import { itInChromium, launchChromium } from '../../../support/chromium.ts';

/** The members of a media element that tests use: the DOM's own types are not loaded here. */
interface MediaElement {
  readonly readyState: number;
  readonly duration: number;
  currentTime: number;
  readonly error: { message: string } | null;
  play(): Promise<void>;
  pause(): void;
  addEventListener(name: string, listener: () => void): void;
}

/**
 * Plays the beginning of a media element's file, then seeks. Runs in the page, so it refers to nothing outside itself.
 * @param targets seconds
 * @returns the duration, and where each seek ended, in seconds
 */
export async function playAndSeek(element: unknown, targets: readonly number[]) {
  const player = element as MediaElement;
  const event = (name: string) =>
    new Promise<void>((resolve, reject) => {
      player.addEventListener('error', () => reject(new Error(player.error?.message)));
      player.addEventListener(name, resolve);
    });
  if (player.readyState < 1) await event('loadedmetadata');
  const hasPlayed = event('timeupdate');
  await player.play();
  await hasPlayed;
  player.pause();
  const seeks: number[] = [];
  for (const seconds of targets) {
    const isThere = event('seeked');
    player.currentTime = seconds;
    await isThere;
    seeks.push(player.currentTime);
  }
  return { duration: player.duration, seeks };
}

let browser: Promise<Browser> | undefined;

/** The Chromium of a test file, which the first call starts. */
export function playerBrowser(): Promise<Browser> {
  if (browser) return browser;
  const launched = launchChromium('LocalNetworkAccessChecks');
  browser = launched;
  afterFile(async () => {
    browser = undefined;
    await (await launched).close();
  });
  return launched;
}

/**
 * Runs a script in a page of Chromium that has a library of `node_modules`, a `video`, and `until`, which waits for what events of it
 * bring about. The script calls `done` with its result, or `fail`.
 * @param origin of the page, which is not asked for it. @default none
 */
export async function runWithPlayer<T>(library: string, script: string, origin?: string): Promise<T> {
  await using page = await (await playerBrowser()).newPage();
  const body = '<video muted></video>';
  if (origin) {
    await page.route(`${origin}/**`, (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(`${origin}/`);
  } else await page.setContent(body);
  await page.addScriptTag({ path: join(import.meta.dirname, '../../../../node_modules', library) });
  return await page.evaluate<T>(`new Promise((done, fail) => {
    const video = document.querySelector('video');
    const until = (isThere) => new Promise((resolve, reject) => {
      const check = () => isThere() && resolve();
      for (const name of ['loadeddata', 'timeupdate', 'seeked', 'resize', 'playing']) video.addEventListener(name, check);
      video.addEventListener('error', () => reject(new Error(video.error?.message)));
      check();
    });
    ${script}
  })`);
}

/** Plays and seeks a URL in a page of Chromium; see `playAndSeek`. */
export async function playUrl(url: string, targets: readonly number[]) {
  await using page = await (await playerBrowser()).newPage();
  await page.setContent(`<video muted preload="metadata" src="${url}"></video>`, { waitUntil: 'commit' });
  return await page.$eval('video', playAndSeek, targets);
}

/** A test that Chromium plays and seeks a stream of this duration, at least 15 s. */
export const itPlaysInChromium = (urlOf: () => string, seconds: number): void =>
  itInChromium('plays and seeks in Chromium', async () => {
    const { duration, seeks } = await playUrl(urlOf(), [15, 3]);
    expect([Math.round(duration), seeks]).toEqual([seconds, [15, 3]]);
  });
