import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { itInChromium } from '../../../support/chromium.ts';
import { hasFirefox, itInFirefox, launchFirefox } from '../../../support/firefox.ts';
import { withTemporaryFolder } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { answerSegments, segmentOf, startSegmentsService, VIDEO_ID } from '../../../support/segments-service.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { resourceOf, startService, trackOf } from '../../fixture.ts';
import { fileSource } from '../encode/mp3/fixture.ts';
import { playerBrowser } from './player.ts';

const run = promisify(execFile);

/**
 * Each second has a brightness and a tone of its own within 12 s; keyframes are 10 s apart, with pictures that refer forward.
 */
const STEPS = 12;
const BRIGHTNESS = `geq=lum='32+mod(floor(T),${STEPS})*16':cb=128:cr=128`;
const TONE_HZ = 200;
const TONES = `aevalsrc='0.3*sin(2*PI*t*${TONE_HZ}*(2+mod(floor(t),${STEPS})))':s=48000`;
const stepOf = (seconds: number) => Math.floor(seconds) % STEPS;
const SECONDS = 30;
const FRAME_SECONDS = 0.05;
let source = '';
let firefox: Browser;
beforeAll(async () => {
  source = join(await temporaryFolder(), 'source.mp4');
  await run('ffmpeg', [
    ...['-v', 'error', '-f', 'lavfi', '-i', `color=s=64x64:r=${1 / FRAME_SECONDS}:d=${SECONDS},${BRIGHTNESS}`],
    ...['-f', 'lavfi', '-i', `${TONES}:d=${SECONDS}`, '-shortest', '-c:a', 'aac'],
    ...['-c:v', 'libx264', '-g', '200', '-keyint_min', '200', '-sc_threshold', '0', '-bf', '2', '-pix_fmt', 'yuv420p'],
    source,
  ]);
  if (hasFirefox) firefox = await launchFirefox();
});
afterAll(() => firefox?.close());

async function clipOf(query: string): Promise<string> {
  const origin = { url: 'https://site.example/watch', extractor: 'Youtube', entryId: VIDEO_ID };
  const resource = resourceOf([trackOf('both')], { durationSeconds: SECONDS, origin });
  const { options } = await startSegmentsService(answerSegments(segmentOf(0, start)));
  const service = await startService(resource, { both: fileSource(await readFile(source)) }, options);
  const { status, body } = await sendRequest(`${service.media('both')}?${query}`);
  expect(status).toBe(200);
  // An address of the page itself, so that it may read the pictures and the sound.
  return `data:video/mp4;base64,${body.toString('base64')}`;
}

interface Player {
  readonly readyState: number;
  readonly ended: boolean;
  currentTime: number;
  play(): Promise<void>;
  captureStream?(): object;
  mozCaptureStream?(): object;
  requestVideoFrameCallback(callback: (now: number, frame: { readonly mediaTime: number }) => void): void;
  readonly ownerDocument: { createElement(name: 'canvas'): Canvas };
  addEventListener(name: string, listener: () => void): void;
}
interface Canvas {
  getContext(kind: '2d'): {
    drawImage(image: Player, x: number, y: number): void;
    getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8Array };
  };
}
/** Of the page. */
interface Recorder {
  ondataavailable: (event: { readonly data: object }) => void;
  start(): void;
  stop(): void;
  addEventListener(name: string, listener: () => void): void;
}
interface Page {
  readonly MediaRecorder: new (stream: object) => Recorder;
  readonly Blob: new (parts: readonly object[]) => { arrayBuffer(): Promise<ArrayBuffer> };
}

/** What pages of both browsers have. */
interface EvaluatingPage {
  click(selector: string): Promise<void>;
  $eval<T>(selector: string, run: (element: unknown) => T): Promise<Awaited<T>>;
  $eval<T, A>(selector: string, run: (element: unknown, argument: A) => T, argument: A): Promise<Awaited<T>>;
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
    // An event says that the seek is done, which may be before its picture is presented.
    const isPresented = new Promise<void>((resolve) => {
      const check = (_: number, { mediaTime }: { readonly mediaTime: number }) =>
        Math.abs(mediaTime - time) < 0.4 ? resolve() : player.requestVideoFrameCallback(check);
      player.requestVideoFrameCallback(check);
    });
    const isThere = event('seeked');
    player.currentTime = time;
    await Promise.all([isThere, isPresented]);
    found.push(read());
  }
  return found;
}

/** What was presented while it played from the beginning to the end. */
interface Played {
  /** Times and brightness of the pictures; the first was there before it played. */
  readonly pictures: readonly (readonly [seconds: number, brightness: number])[];
  /** What was seen and heard, in Base64. */
  readonly recording: string;
}

/** Runs in the page. */
async function playThrough(element: unknown): Promise<Played> {
  const player = element as Player;
  const { MediaRecorder, Blob } = globalThis as unknown as Page;
  const event = (name: string) => new Promise<void>((resolve) => player.addEventListener(name, resolve));
  if (player.readyState < 3) await event('canplay');
  const context = player.ownerDocument.createElement('canvas').getContext('2d');
  const pictures: [number, number][] = [];
  const add = (seconds: number) => {
    context.drawImage(player, 0, 0);
    pictures.push([seconds, context.getImageData(32, 32, 1, 1).data[0] ?? 0]);
  };
  add(0);
  const onFrame = (_: number, { mediaTime }: { readonly mediaTime: number }) => {
    add(mediaTime);
    player.requestVideoFrameCallback(onFrame);
  };
  player.requestVideoFrameCallback(onFrame);
  const recorder = new MediaRecorder(player.captureStream?.() ?? player.mozCaptureStream?.() ?? {});
  const parts: object[] = [];
  recorder.ondataavailable = ({ data }) => void parts.push(data);
  const isRecorded = new Promise<void>((resolve) => recorder.addEventListener('stop', resolve));
  const hasEnded = event('ended');
  recorder.start();
  await player.play();
  await hasEnded;
  recorder.stop();
  await isRecorded;
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return { pictures, recording: btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), '')) };
}

/** By the luma of a limited range. */
const stepOfBrightness = (value: number) => Math.round(((value * 219) / 255 + 16 - 32) / 16);
const RATE = 48_000;

/** What is seen and heard in a recording, for the time of each picture. */
const stepsOf = (recording: string) =>
  withTemporaryFolder(async (folder) => {
    const file = join(folder, 'recording.webm');
    await writeFile(file, Buffer.from(recording, 'base64'));
    const decode = async (...args: string[]) => {
      const command = ['-v', 'error', '-i', file, ...args, '-'];
      const { stdout } = await run('ffmpeg', command, { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 });
      return stdout;
    };
    const fps = `fps=${1 / FRAME_SECONDS}:start_time=0`;
    const pictures = await decode('-vf', `${fps},scale=1:1:flags=area`, '-pix_fmt', 'gray', '-f', 'rawvideo');
    const sound = await decode(
      ...['-af', `aresample=${RATE}:async=1:first_pts=0`, '-ac', '1'],
      ...['-c:a', 'pcm_s16le', '-f', 's16le'],
    );
    const seen = Array.from(pictures, stepOfBrightness);
    const samples = RATE * FRAME_SECONDS;
    const heard = seen.map((_, index) => {
      const waves = new Int16Array(sound.buffer, sound.byteOffset, sound.length >> 1)
        .subarray(index * samples, (index + 1) * samples)
        .filter((sample, at, all) => sample >= 0 && (all[at - 1] ?? 0) < 0).length;
      return Math.round(waves / FRAME_SECONDS / TONE_HZ) - 2;
    });
    return { seen, heard };
  });

const start = 14.25;
const CLIPS = [
  ['a clip between keyframes', `start=${start}&end=18`],
  ['what follows a skipped beginning', 'skip=sponsor&end=18'],
] as const;

/** A page of each browser. A page of Chromium may play sound once it was clicked. */
const BROWSERS = [
  ['Chromium', itInChromium, async () => (await playerBrowser()).newPage()],
  ['Firefox', itInFirefox, () => firefox.newPage()],
] as const;

describe.each(CLIPS)('%s', (_, query) => {
  const seeks = [0.05, 0.5, 2.5, 3.5];

  for (const [name, itInBrowser, open] of BROWSERS) {
    const inPage = async <T>(isMuted: boolean, use: (page: Awaited<ReturnType<typeof open>>) => Promise<T>) => {
      const page = await open();
      const source = await clipOf(query);
      await page.setContent(`<video ${isMuted ? 'muted' : ''} preload="auto" src="${source}"></video>`);
      return use(page).finally(() => page.close());
    };

    itInBrowser(`shows the picture of the time that is sought, in ${name}`, async () => {
      const found = await inPage(true, (page: EvaluatingPage) => page.$eval('video', brightnessAt, seeks));
      expect(found.map(stepOfBrightness)).toEqual(seeks.map((time) => stepOf(start + time)));
    });

    itInBrowser(`plays from its start with the sound of its pictures, in ${name}`, async () => {
      const { pictures, recording } = await inPage(false, async (page: EvaluatingPage) => {
        if (name === 'Chromium') await page.click('video');
        return page.$eval('video', playThrough);
      });
      // Before the first picture of the clip, Firefox shows pictures that the edit list hides.
      expectInTime(pictures.filter(([seconds]) => name === 'Chromium' || seconds > FRAME_SECONDS / 2));
      await expectInStep(recording);
    });
  }
});

/** A browser may draw a picture beside the one that it names. */
const DRAWN_SECONDS = 0.25;

function expectInTime(pictures: Played['pictures']): void {
  expect(pictures.length).toBeGreaterThan(1);
  for (const [seconds, brightness] of pictures) {
    const steps = [-DRAWN_SECONDS, 0, DRAWN_SECONDS].map((moved) => stepOf(start + Math.max(0, seconds + moved)));
    expect(steps, `at ${seconds}`).toContain(stepOfBrightness(brightness));
  }
}

/** A recorder may be late with either by so many. */
const RECORDED_PICTURES = 8;

async function expectInStep(recording: string): Promise<void> {
  const { seen, heard } = await stepsOf(recording);
  const compared = new Set<number>();
  for (let at = RECORDED_PICTURES; at < seen.length - RECORDED_PICTURES; at += 1) {
    const around = new Set(seen.slice(at - RECORDED_PICTURES, at + RECORDED_PICTURES + 1));
    if (around.size > 1) continue;
    expect(heard[at], `at ${(at * FRAME_SECONDS).toFixed(2)} of ${seen} and ${heard}`).toBe(seen[at]);
    compared.add(seen[at] ?? 0);
  }
  expect(compared.size).toBeGreaterThan(1);
}
