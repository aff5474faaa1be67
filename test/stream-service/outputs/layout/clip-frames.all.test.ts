import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { itInChromium } from '../../../support/chromium.ts';
import { hasFirefox, itInFirefox, launchFirefox } from '../../../support/firefox.ts';
import { sendRequest } from '../../../support/request.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { mediaKey, resourceOf, startService, trackOf } from '../../fixture.ts';
import { fileSource } from '../encode/mp3/fixture.ts';
import { playerBrowser } from './player.ts';

const run = promisify(execFile);

/** Each half of a second has a brightness of its own within 6 s; keyframes are 10 s apart, with pictures that refer forward. */
const BRIGHTNESS = "geq=lum='32+mod(floor(T*2),12)*16':cb=128:cr=128";
const stepOf = (seconds: number) => Math.floor(seconds * 2) % 12;
const SECONDS = 30;
let source = '';
let firefox: Browser;
beforeAll(async () => {
  source = join(await temporaryFolder(), 'source.mp4');
  await run('ffmpeg', [
    ...['-v', 'error', '-f', 'lavfi', '-i', `color=s=64x64:r=20:d=${SECONDS},${BRIGHTNESS}`],
    ...['-f', 'lavfi', '-i', `sine=440:r=48000:d=${SECONDS}`, '-shortest', '-c:a', 'aac'],
    ...['-c:v', 'libx264', '-g', '200', '-keyint_min', '200', '-sc_threshold', '0', '-bf', '2', '-pix_fmt', 'yuv420p'],
    source,
  ]);
  if (hasFirefox) firefox = await launchFirefox();
});
afterAll(() => firefox?.close());

async function clipOf(query: string): Promise<string> {
  const resource = resourceOf([trackOf('both')], { durationSeconds: SECONDS });
  const service = await startService(resource, { both: fileSource(await readFile(source)) });
  const { status, body } = await sendRequest(`${service.url}/api/Stream/Media/${mediaKey('both')}?${query}`);
  expect(status).toBe(200);
  // An address of the page itself, so that it may read the pictures.
  return `data:video/mp4;base64,${body.toString('base64')}`;
}

interface Player {
  readonly readyState: number;
  currentTime: number;
  readonly ownerDocument: { createElement(name: 'canvas'): Canvas };
  addEventListener(name: string, listener: () => void): void;
}
interface Canvas {
  getContext(kind: '2d'): {
    drawImage(image: Player, x: number, y: number): void;
    getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8Array };
  };
}

/** The brightness of the pictures at some times. Runs in the page. */
async function brightnessAt(element: unknown, times: readonly number[]): Promise<number[]> {
  const player = element as Player;
  const event = (name: string) => new Promise<void>((resolve) => player.addEventListener(name, resolve));
  const context = player.ownerDocument.createElement('canvas').getContext('2d');
  const read = () => {
    context.drawImage(player, 0, 0);
    return context.getImageData(32, 32, 1, 1).data[0] ?? 0;
  };
  if (player.readyState < 2) await event('loadeddata');
  const found: number[] = [];
  for (const time of times) {
    const isThere = event('seeked');
    player.currentTime = time;
    await isThere;
    found.push(read());
  }
  return found;
}

/** By the luma of a limited range. */
const stepOfBrightness = (value: number) => Math.round(((value * 219) / 255 + 16 - 32) / 16);

describe('a clip between keyframes shows the picture of its start', () => {
  // Seeks go to the middle of half a second of the source.
  const start = 14.25;
  // Before it plays, Firefox shows the first picture that it has decoded: that of the keyframe.
  const seeks = [0.05, 0.5, 2.5, 3.5];
  const expected = seeks.map((time) => stepOf(start + time));

  itInChromium('in Chromium', async () => {
    await using page = await (await playerBrowser()).newPage();
    await page.setContent(`<video muted preload="auto" src="${await clipOf(`start=${start}&end=18`)}"></video>`);
    const found = await page.$eval('video', brightnessAt, seeks);
    expect(found.map(stepOfBrightness)).toEqual(expected);
  });

  itInFirefox('in Firefox', async () => {
    const page = await firefox.newPage();
    await page.setContent(`<video muted preload="auto" src="${await clipOf(`start=${start}&end=18`)}"></video>`);
    const found = await page.$eval('video', brightnessAt, seeks);
    await page.close();
    expect(found.map(stepOfBrightness)).toEqual(expected);
  });
});
