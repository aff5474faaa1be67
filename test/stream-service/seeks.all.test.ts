import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Track } from '../../core/state/resource.ts';
import { packDashSegments } from '../../packages/seekable-media/src/dash.ts';
import { fragmentedHls } from '../origin/media.ts';
import { itInChromium } from '../support/chromium.ts';
import { itWith } from '../support/clients.ts';
import { itInFirefox, launchFirefox } from '../support/firefox.ts';
import { newestFfmpeg } from '../support/installed-tools.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { audioTrack, combinedKey, mediaKey, trackOf, videoTrack } from './fixture.ts';
import { useFolderSite } from './folder-site.ts';
import { playerBrowser } from './outputs/layout/player.ts';

const run = promisify(execFile);
const RATE = 25;
const SECONDS = 64;
/** How often the list of four hours has the segments of a minute. */
const TIMES = 225;
const WIDTH = 256;
const HEIGHT = 16;
const BITS = 16;
/** Pictures that show their number in bits, and a tone that rises by 400 Hz a second, for ten seconds. */
const PICTURES = `color=black:s=${WIDTH}x${HEIGHT}:r=${RATE}:d=${SECONDS},format=gray,geq=lum='255*mod(floor(N/pow(2,floor(X/${WIDTH / BITS}))),2)',format=yuv420p`;
const TONE = `aevalsrc='0.5*sin(2*PI*(400*mod(t,10)+200*pow(mod(t,10),2)))':s=48000:d=${SECONDS}`;
const TONE_SECONDS = 10;
const HZ_PER_SECOND = 400;
const SOURCES = ['-f', 'lavfi', '-i', PICTURES, '-f', 'lavfi', '-i', TONE];
const [VIDEO, AUDIO] = [
  ['-map', '0', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '100', '-bf', '2'],
  ['-map', '1', '-c:a', 'aac', '-b:a', '96k'],
];
const INDEXED = ['-movflags', 'frag_keyframe+empty_moov+dash+global_sidx'];
const hls = (name: string, seconds: number) => ['-hls_playlist_type', 'vod', ...fragmentedHls(name, seconds)];

const transportHls = (name: string) => [
  ...['-f', 'hls', '-hls_time', '4', '-hls_list_size', '0'],
  ...['-hls_segment_filename', `${name}%d.ts`, `${name}.m3u8`],
];
const OPEN_GROUPS = ['-x264-params', 'open-gop=1', '-bf', '3'];

const site = useFolderSite([
  [...SOURCES, ...VIDEO, ...AUDIO, 'both.mp4'],
  ['-i', 'both.mp4', '-map', '0:v', '-c', 'copy', 'tables.mp4', '-map', '0:a', '-c', 'copy', 'tables.m4a'],
  ['-i', 'both.mp4', '-map', '0:a', '-ar', '44100', '-c:a', 'aac', '-frag_duration', '5000000', ...INDEXED, 'cd.m4a'],
  ['-i', 'both.mp4', '-map', '0:v', '-c', 'copy', ...INDEXED, 'pair.mp4'],
  ['-i', 'both.mp4', '-map', '0:a', '-c', 'copy', '-frag_duration', '9984000', ...INDEXED, 'pair.m4a'],
  [...SOURCES, ...VIDEO, ...OPEN_GROUPS, ...INDEXED, 'open.mp4'],
  ['-i', 'both.mp4', '-map', '0:v', '-c', 'copy', ...hls('video', 4)],
  ['-i', 'both.mp4', '-map', '0:a', '-c', 'copy', ...hls('audio', 7)],
  ['-i', 'both.mp4', '-map', '0', '-c', 'copy', ...hls('muxed', 4)],
  ['-i', 'both.mp4', '-map', '0', '-c', 'copy', ...transportHls('ts')],
  [...SOURCES, ...VIDEO, '-bf', '0', ...AUDIO, ...transportHls('flat')],
  [...SOURCES, ...VIDEO, ...OPEN_GROUPS, ...AUDIO, ...transportHls('open')],
  ['-i', 'open.m3u8', '-c', 'copy', '-bsf:a', 'aac_adtstoasc', ...hls('opened', 4)],
  ['-i', 'flat.m3u8', '-c', 'copy', '-bsf:a', 'aac_adtstoasc', ...hls('flatter', 4)],
  [
    ...['-i', 'both.mp4', '-map', '0:v', '-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'],
    ...['-g', '100', '-dash', '1', '-cues_to_front', '1', 'pair.webm'],
  ],
  [
    ...['-i', 'both.mp4', '-map', '0:a', '-c:a', 'libopus', '-cluster_time_limit', '10000'],
    ...['-cluster_size_limit', '2000000', '-cues_to_front', '1', 'sound.webm'],
  ],
]);
const { linesOf, listOf: listAt } = site;
let place: string;

beforeAll(async () => {
  place = await temporaryFolder();
  await chmod(place, 0o755);
});
beforeEach(() => {
  const lines = linesOf('ts');
  const first = lines.findIndex((line) => line.startsWith('#EXTINF'));
  const segments = lines.slice(first).filter((line) => /^#EXTINF|\.ts$/.test(line));
  const all = Array.from({ length: TIMES }, () => segments).flat();
  site.texts.set('long.m3u8', Buffer.from([...lines.slice(0, first), ...all, '#EXT-X-ENDLIST'].join('\n')));
});

const fileAt = (name: string): Partial<Track> => ({
  url: `${site.upstream.origin}/${name}`,
  container: name.split('.')[1] ?? '',
});
/** The segments that the list of the same name has. */
const dashAt = (name: string, seconds: number): Partial<Track> => {
  const count = linesOf(name).filter((line) => line.startsWith('#EXTINF')).length;
  const urls = Array.from({ length: count }, (_, index) => ({ url: `${name}${index}.m4s`, seconds }));
  const fragments = packDashSegments([{ url: `${name}.mp4`, seconds: 0 }, ...urls]);
  return {
    delivery: 'dash',
    url: `${site.upstream.origin}/dash.mpd`,
    fragmentBaseUrl: `${site.upstream.origin}/`,
    fragments,
  };
};

async function serve(tracks: readonly Track[], durationSeconds: number): Promise<string> {
  const service = await site.serve(tracks, { durationSeconds });
  const [{ formatId } = { formatId: '' }] = tracks;
  return `${service.url}/api/Stream/Media/${tracks.length > 1 ? combinedKey() : mediaKey(formatId)}`;
}
const pair = (video: Partial<Track>, audio: Partial<Track>) =>
  serve([videoTrack({ ...video, video: {} }), audioTrack({ ...audio, audio: {} })], SECONDS);

/** Seconds: forward, back, to the end. */
const TARGETS = [13.3, 47.9, 20.5, 5.5, 51.7];
/** The pictures of an open group that are shown before its first one are decoded after it: none of them can be sought. */
const OPEN_TARGETS = TARGETS.map((seconds) => (seconds === 47.9 ? 47.7 : seconds));
const LONG_TARGETS = [7333.3, 100.2, 14_387.3, 20.5];
/** A seek into the last place, besides, by players that take little time. */
const BEFORE_END = 1.7;
/** Files without edit lists begin when their first picture is decoded, two pictures before it is shown. */
const REORDERED = 2 / RATE;
/** Lists begin with the samples that AAC has before its sound. */
const PRIMING = 1024 / 48_000;
interface Kind {
  readonly kind: string;
  readonly start: () => Promise<string>;
  readonly targets?: readonly number[];
  readonly lateSeconds?: number;
  /** What a source hides by its edit list, which the output has not: it begins so much later, and players count from there or from 0. */
  readonly hiddenSeconds?: number;
  /** Chromium finishes no seek in the file of the video alone either. */
  readonly isChromiumStuck?: true;
  /** For the players of Debian that read an index as it is: others differ by the kind, not by the length. */
  readonly isLong?: true;
}
/** Fragments, files of one sample table (without fragments), clusters, and each of them beside another. */
const PAIRS: readonly (readonly [video: string, audio: string, more?: Partial<Kind>])[] = [
  ['pair.mp4', 'pair.m4a', { lateSeconds: REORDERED }],
  ['pair.mp4', 'cd.m4a', { lateSeconds: REORDERED }],
  ['open.mp4', 'pair.m4a', { lateSeconds: REORDERED, isChromiumStuck: true }],
  ['tables.mp4', 'tables.m4a'],
  ['tables.mp4', 'pair.m4a', { hiddenSeconds: REORDERED }],
  ['pair.mp4', 'tables.m4a', { lateSeconds: REORDERED, hiddenSeconds: PRIMING }],
  ['pair.webm', 'sound.webm'],
  ['pair.webm', 'pair.m4a'],
];
const LISTS: readonly (readonly [kind: string, name: string, more?: Partial<Kind>])[] = [
  ['MPEG-TS', 'ts'],
  ['MPEG-TS without B-frames', 'flat'],
  ['MPEG-TS with open groups', 'open', { targets: OPEN_TARGETS, isChromiumStuck: true }],
  ['MP4', 'muxed'],
  ['MP4 without B-frames', 'flatter'],
  ['MP4 with open groups', 'opened', { targets: OPEN_TARGETS, isChromiumStuck: true }],
];
const KINDS: readonly Kind[] = [
  ...PAIRS.map(([video, audio, more]) => ({
    kind: `a pair of ${video} and ${audio}`,
    start: () => pair(fileAt(video), fileAt(audio)),
    ...more,
  })),
  ...LISTS.map(([kind, name, more]) => ({
    kind: `a list of ${kind}`,
    start: () => serve([trackOf('f', listAt(name))], SECONDS),
    lateSeconds: PRIMING,
    ...more,
  })),
  { kind: 'two lists of MP4', start: () => pair(listAt('video'), listAt('audio')), lateSeconds: REORDERED },
  { kind: 'DASH of MP4', start: () => pair(dashAt('video', 4), dashAt('audio', 7)), lateSeconds: REORDERED },
  {
    kind: 'a list of four hours',
    start: () => serve([trackOf('f', listAt('long'))], SECONDS * TIMES),
    targets: LONG_TARGETS,
    isLong: true,
    lateSeconds: PRIMING,
  },
];

/** When the pictures of some raw video are shown, seconds. */
const timesOf = (gray: Buffer): readonly number[] =>
  Array.from({ length: gray.length / (WIDTH * HEIGHT) }, (_, index) => {
    const row = (index * HEIGHT + HEIGHT / 2) * WIDTH;
    const bits = Array.from({ length: BITS }, (_, bit) =>
      Number((gray[row + (bit + 0.5) * (WIDTH / BITS)] ?? 0) > 128),
    );
    return bits.reduce((sum, bit, index) => sum + bit * 2 ** index, 0) / RATE;
  });

/** When the sound of a moment of samples was made, modulo `TONE_SECONDS`. @param at seconds in the samples */
function soundAt(samples: Int16Array, rate: number, at: number): number {
  const part = samples.subarray(Math.round((at - 0.1) * rate), Math.round((at + 0.1) * rate));
  const rising = [...part.keys()].filter((index) => (part[index - 1] ?? 1) < 0 && (part[index] ?? 0) >= 0);
  const periods = rising.length - 1;
  return (periods * rate) / ((rising.at(-1) ?? 0) - (rising[0] ?? 0)) / HZ_PER_SECOND - 1;
}

/** Expects the pictures from a time on, each 1/25 s after the one before. */
function expectPictures(times: readonly number[], target: number, { count = 1 } = {}) {
  expect(times.length, `pictures from ${target}`).toBeGreaterThanOrEqual(count);
  expect(Math.abs((times[0] ?? 0) - target), `${times[0]} at ${target}`).toBeLessThanOrEqual(1.05 / RATE);
  for (const [index, time] of times.slice(0, count).entries())
    expect(time, `picture ${index} from ${target}`).toBeCloseTo((times[0] ?? 0) + index / RATE, 3);
}

/** Expects the sound of a time at some moments of samples that begin with it. */
function expectSound(samples: Int16Array, target: number, moments: readonly number[], rate = 48_000) {
  for (const moment of moments) {
    const wanted = ((target + moment) % SECONDS) % TONE_SECONDS;
    // Where the tone begins again, neither is heard.
    if (wanted < 0.2 || wanted > TONE_SECONDS - 0.2) continue;
    const heard = soundAt(samples, rate, moment);
    expect(Math.abs(heard - wanted), `${heard} at ${wanted} from ${target}`).toBeLessThanOrEqual(0.05);
  }
}

/** Checks all targets at once, each with a folder that any user may write to: players mostly wait. */
const afterSeeks = (targets: readonly number[], check: (target: number, folder: string) => Promise<void>) =>
  Promise.all(
    targets.map(async (target) => {
      const folder = await mkdtemp(join(place, 'seek-'));
      await chmod(folder, 0o777);
      await check(target, folder);
    }),
  );

const samplesOf = (bytes: Buffer) =>
  new Int16Array(Uint8Array.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).buffer);

const PROGRAMS: readonly (readonly [string, () => Promise<string>])[] = [
  ['the FFmpeg of this machine', async () => 'ffmpeg'],
  ['the newest FFmpeg', newestFfmpeg],
];

describe.each(KINDS)('$kind', ({ start, targets = TARGETS, lateSeconds = 0, hiddenSeconds = 0, ...limits }) => {
  const shownAt = (target: number) => (target - lateSeconds) % SECONDS;
  /** The target as a player takes it that begins with a picture. */
  const takenAs = (target: number, [first = target]: readonly number[]) =>
    Math.abs(first - shownAt(target)) > 1.05 / RATE ? target - hiddenSeconds : target;
  const endSeconds = limits.isLong ? SECONDS * TIMES : SECONDS;
  const allTargets = [...targets, endSeconds - BEFORE_END];
  let url: string;
  beforeAll(async () => {
    url = await start();
  });

  const programs = limits.isLong ? PROGRAMS.slice(0, 1) : PROGRAMS;
  it.each(programs)('is right for twelve seconds after every seek of %s', async (_name, program) => {
    const ffmpeg = await program();
    await afterSeeks(allTargets, async (target, folder) => {
      const seconds = Math.min(12, endSeconds - target);
      const heard = join(folder, 'heard');
      const { stdout } = await run(
        ffmpeg,
        [
          ...['-nostdin', '-v', 'error', '-ss', String(target), '-i', url],
          ...['-map', '0:v', '-t', '12', '-fps_mode', 'passthrough', '-pix_fmt', 'gray', '-f', 'rawvideo', '-'],
          ...['-map', '0:a', '-t', '12', '-ac', '1', '-ar', '48000', '-f', 's16le', heard],
        ],
        { encoding: 'buffer', maxBuffer: 1 << 26 },
      );
      const pictures = timesOf(stdout);
      const taken = takenAs(target, pictures);
      expectPictures(pictures, shownAt(taken), { count: Math.floor(seconds * RATE) - 2 });
      const moments = [0.3, 1.2, 4.9, 11.7].filter((moment) => moment < seconds);
      expectSound(samplesOf(await readFile(heard)), taken, moments);
    });
  });

  itWith('mpv')('is right after every seek of mpv', () =>
    afterSeeks(allTargets, async (target, images) => {
      const wav = join(images, 'sound.wav');
      const picture = ['--vo=image', '--vo-image-format=png', `--vo-image-outdir=${images}`, '--framedrop=no'];
      // Into a file, sound takes no longer than it takes to decode, and pictures follow it.
      const sound = ['--ao=pcm', `--ao-pcm-file=${wav}`, '--audio-samplerate=48000', '--audio-format=s16'];
      const part = ['--audio-channels=mono', `--start=${target}`, '--length=1.5', url];
      await run('mpv', ['--no-config', '--no-terminal', ...picture, ...sound, ...part]);
      const pictures = timesOf(await grayOf(images));
      const taken = takenAs(target, pictures);
      expectPictures(pictures, shownAt(taken), { count: RATE });
      const heard = await readFile(wav);
      expectSound(samplesOf(heard.subarray(heard.indexOf('data') + 8)), taken, [0.3, 1]);
    }),
  );

  itWith('vlc').skipIf(limits.isLong)('is right after every seek of VLC', () =>
    afterSeeks(targets, async (target, images) => {
      const picture = ['--vout=dummy', '--video-filter=scene', '--scene-format=png', `--scene-path=${images}`];
      const wav = join(images, 'sound.wav');
      const sound = ['--scene-ratio=1', '--aout=afile', `--audiofile-file=${wav}`, '--audiofile-format=s16'];
      const part = ['-I', 'dummy', '--no-interact', `--start-time=${target}`, '--run-time=2', url, 'vlc://quit'];
      const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      await run('vlc', [...picture, ...sound, ...part], { ...user, env: { PATH: process.env.PATH, HOME: images } });
      // Of a progressive file too, it begins up to three pictures early.
      const times = timesOf(await grayOf(images));
      const first = times.findIndex((time) => time > shownAt(target - hiddenSeconds) - 1.05 / RATE);
      expect(first, `${times.slice(0, 4)} from ${target}`).toBeLessThanOrEqual(3);
      const taken = takenAs(target, times.slice(first));
      expectPictures(times.slice(first), shownAt(taken));
      const heard = await readFile(wav);
      const rate = heard.readUInt32LE(24) * heard.readUInt16LE(22);
      expectSound(samplesOf(heard.subarray(heard.indexOf('data') + 8)), taken, [0.3, 1], rate);
    }),
  );

  const expectSeeks = (seeks: Seeks) => {
    expect(seeks.length).toBe(targets.length);
    for (const [index, { gray, sound, at, rate }] of seeks.entries()) {
      const [target = 0, pictures] = [targets[index], timesOf(Buffer.from(gray))];
      expectPictures(pictures, shownAt(takenAs(target, pictures)));
      if (rate === 0) continue;
      // What an analyser has was played a moment ago.
      const wanted = (at % SECONDS) % TONE_SECONDS;
      const part = Int16Array.from(sound, (sample) => sample * 32_767);
      const heard = soundAt(part, rate, part.length / rate / 2);
      if (wanted > 0.5) expect(Math.abs(heard - wanted), `${heard} at ${wanted}`).toBeLessThanOrEqual(0.3);
    }
  };

  itInChromium.skipIf(limits.isChromiumStuck || limits.isLong)('is right after every seek of Chromium', async () => {
    await using page = await (await playerBrowser()).newPage();
    await page.setContent(`<button>Play</button><video crossorigin preload="auto" src="${url}"></video>`, {
      waitUntil: 'commit',
    });
    await page.click('button');
    expectSeeks(await page.$eval('video', seekInPage, { targets, hasSound: true }));
  });

  itInFirefox.skipIf(limits.isLong)('is right after every seek of Firefox', async () => {
    const page = await (await firefox()).newPage();
    await page.setContent(`<video muted crossorigin preload="auto" src="${url}"></video>`);
    // There is no sound without a device.
    const seeks = await page.$eval('video', seekInPage, { targets, hasSound: false });
    await page.close();
    expectSeeks(seeks);
  });
});

let launched: ReturnType<typeof launchFirefox> | undefined;
const firefox = () => (launched ??= launchFirefox());
afterAll(async () => (await launched)?.close());

type Seeks = Awaited<ReturnType<typeof seekInPage>>;

/** Seeks, and tells what is seen and heard there. Runs in the page, so it refers to nothing outside itself. */
async function seekInPage(
  element: unknown,
  { targets, hasSound }: { readonly targets: readonly number[]; readonly hasSound: boolean },
) {
  // biome-ignore lint/suspicious/noExplicitAny: the types of the DOM are not loaded here
  const [video, page] = [element as any, globalThis as any];
  const event = (name: string) => new Promise((resolve) => video.addEventListener(name, resolve, { once: true }));
  const canvas = page.document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  let analyser: { fftSize: number; getFloatTimeDomainData(samples: Float32Array): void } | undefined;
  let rate = 0;
  if (hasSound) {
    const context = new page.AudioContext();
    const node = context.createAnalyser();
    node.fftSize = 8192;
    context.createMediaElementSource(video).connect(node).connect(context.destination);
    await context.resume();
    [analyser, rate] = [node, context.sampleRate];
  }
  if (video.readyState < 2) await event('loadeddata');
  [canvas.canvas.width, canvas.canvas.height] = [video.videoWidth, video.videoHeight];
  const seeks: { gray: number[]; sound: number[]; at: number; rate: number }[] = [];
  for (const target of targets) {
    // An event says that the seek is done, which may be before its picture is presented.
    const isPresented = new Promise<void>((resolve) => {
      const check = (_now: number, { mediaTime }: { readonly mediaTime: number }) =>
        Math.abs(mediaTime - target) < 0.5 ? resolve() : video.requestVideoFrameCallback(check);
      video.requestVideoFrameCallback(check);
    });
    const isThere = event('seeked');
    video.currentTime = target;
    await Promise.all([isThere, isPresented]);
    canvas.drawImage(video, 0, 0);
    const { data } = canvas.getImageData(0, 0, video.videoWidth, video.videoHeight);
    const gray = Array.from({ length: data.length / 4 }, (_, index) => data[index * 4]);
    await video.play();
    const sound = new Float32Array(analyser?.fftSize ?? 0);
    // On a busy machine the analyser gets its first sound late.
    const isAwaited = () => video.currentTime < target + 3 && analyser && sound.every((sample) => sample === 0);
    while (video.currentTime < target + 0.7 || isAwaited()) {
      await event('timeupdate');
      analyser?.getFloatTimeDomainData(sound);
    }
    seeks.push({ gray, sound: [...sound], at: video.currentTime, rate });
    video.pause();
  }
  return seeks;
}

/** The pictures of a folder as raw video. */
async function grayOf(images: string): Promise<Buffer> {
  if (!(await readdir(images)).some((name) => name.endsWith('.png'))) return Buffer.alloc(0);
  const pattern = ['-pattern_type', 'glob', '-i', join(images, '*.png')];
  const args = ['-nostdin', '-v', 'error', ...pattern, '-pix_fmt', 'gray', '-f', 'rawvideo', '-'];
  return (await run('ffmpeg', args, { encoding: 'buffer', maxBuffer: 1 << 26 })).stdout;
}
