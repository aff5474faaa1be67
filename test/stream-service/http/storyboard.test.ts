import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAccessControl } from '../../../core/http/client.ts';
import { packFragments } from '../../../core/media/dash/dash-timeline.ts';
import type { Resource } from '../../../core/state/resource.ts';
import { memorySource } from '../../../stream-service/source/memory.ts';
import type { FileSource, Source } from '../../../stream-service/source/source.ts';
import { madeFiles } from '../../origin/media.ts';
import { mediaKey, resourceOf, type ServiceFixtureOptions, startService, trackOf } from '../fixture.ts';

const SECONDS = 12;
/** Grey, brighter by the second: `lumaAt`. */
const GREY = `nullsrc=s=320x180:r=10:d=${SECONDS},geq=lum='30+15*floor(T)':cb=128:cr=128`;
const lumaAt = (second: number) => (30 + 15 * second - 16) * (255 / 219);
const H264 = `-f lavfi -i ${GREY} -c:v libx264 -g 10 -bf 2 -pix_fmt yuv420p -flags +cgop`.split(' ');
const FRAGMENTED = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof+global_sidx'];
const RECIPES = {
  'progressive.mp4': [...H264, '-color_range', 'tv'],
  // Frames in their order: without an edit list, their delay would count.
  'fragmented.mp4': [...H264, '-bf', '0', ...FRAGMENTED],
  'sound.m4a': ['-f', 'lavfi', '-i', 'sine=d=2', '-c:a', 'aac'],
  'sheet.jpg': ['-f', 'lavfi', '-i', 'color=c=gray:s=480x270', '-frames:v', '1'],
  'sheet.webp': ['-f', 'lavfi', '-i', 'color=c=gray:s=480x270', '-frames:v', '1'],
};

let files: Readonly<Record<keyof typeof RECIPES, Buffer>>;
beforeAll(async () => {
  const folder = await madeFiles(RECIPES);
  const read = Object.keys(RECIPES).map(async (name) => [name, await readFile(join(folder, name))]);
  files = Object.fromEntries(await Promise.all(read));
});

/** By a matrix that maps x to y (ISO/IEC 14496-12 §8.3.2), behind the times of version 0. */
function turned(file: Buffer): Buffer {
  const bytes = Buffer.from(file);
  const matrix = bytes.indexOf('tkhd', 0, 'latin1') + 44;
  for (const [index, value] of [0, 0x1_0000, 0, -0x1_0000, 0, 0, 180 * 0x1_0000].entries())
    bytes.writeInt32BE(value, matrix + index * 4);
  return bytes;
}

const video = (more: Partial<Resource> = {}) => resourceOf([trackOf('video')], { durationSeconds: SECONDS, ...more });

async function start(resource: Resource, sources: Record<string, Source>, options: ServiceFixtureOptions = {}) {
  const service = await startService(resource, sources, options);
  onTestFinished(() => service.close());
  const address = `${service.url}/api/Stream/Storyboard/${mediaKey('video')}`;
  return { ...service, address, get: (path = '', init: RequestInit = {}) => fetch(address + path, init) };
}

interface Cue {
  readonly start: number;
  readonly end: number;
  readonly url: string;
  readonly box: readonly number[];
}

const TIME = String.raw`(\d\d):([0-5]\d):([0-5]\d\.\d{3})`;
const seconds = (parts: readonly (string | undefined)[]) => parts.reduce((sum, part) => sum * 60 + Number(part), 0);

/** Reads WebVTT strictly: no line may be anything else. */
function readStoryboard(text: string, address: string): readonly Cue[] {
  const [head, ...blocks] = text.split('\n\n');
  expect(head).toBe('WEBVTT');
  expect(blocks.pop()).toBe('');
  return blocks.map((block) => {
    const match = new RegExp(`^${TIME} --> ${TIME}\n([^\n#]+)#xywh=(\\d+),(\\d+),(\\d+),(\\d+)$`).exec(block);
    if (!match) throw new Error(`Not a cue: ${block}`);
    const box = match.slice(8, 12).map(Number);
    const url = new URL(match[7] ?? '', address).href;
    return { start: seconds(match.slice(1, 4)), end: seconds(match.slice(4, 7)), url, box };
  });
}

/** Returns what tells the mean luma of a part of a sheet. */
function readLuma(sheet: Buffer, cues: readonly Cue[]): (box: readonly number[]) => number {
  const columns = Math.max(...cues.map(({ box: [x = 0, , width = 0] }) => x + width));
  const args = ['-v', 'error', '-i', 'pipe:0', '-vf', 'format=gray', '-f', 'rawvideo', 'pipe:1'];
  const raw = execFileSync('ffmpeg', args, { input: sheet });
  return ([left = 0, top = 0, width = 0, height = 0]) => {
    const rows = Array.from({ length: height }, (_, row) => {
      const start = (top + row) * columns + left;
      return raw.subarray(start, start + width);
    });
    return Buffer.concat(rows).reduce((sum, value) => sum + value, 0) / (width * height);
  };
}

/** Each cue, and the picture that it shows. */
async function readPictures(get: (path?: string) => Promise<Response>, address: string) {
  const response = await get();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/vtt; charset=utf-8']);
  const cues = readStoryboard(await response.text(), address);
  const sheet = await fetch(cues[0]?.url ?? '');
  expect(sheet.status).toBe(200);
  return { cues, sheet, picture: Buffer.from(await sheet.arrayBuffer()) };
}

describe('pictures made of keyframes', () => {
  it.each(['progressive.mp4', 'fragmented.mp4'] as const)('show each second of %s in its place', async (name) => {
    let read = 0;
    const whole = memorySource(files[name]);
    const source: FileSource = {
      ...whole,
      read(first, last = files[name].length - 1) {
        read += last + 1 - first;
        return whole.read(first, last);
      },
    };
    const { get, address, attachments } = await start(video(), { video: source });
    const { cues, sheet, picture } = await readPictures(get, address);
    expect(cues.map(({ start, end }) => [start, end])).toEqual(
      Array.from({ length: SECONDS }, (_, second) => [second, second + 1]),
    );
    expect(cues[11]?.box).toEqual([160, 90, 160, 90]);
    const lumaOf = readLuma(picture, cues);
    for (const { start, box } of cues) expect(Math.abs(lumaOf(box) - lumaAt(start))).toBeLessThan(5);
    expect(Object.fromEntries(sheet.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': String(picture.length),
      'cache-control': 'public, max-age=3600, must-revalidate, stale-if-error=0',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[^"]+"$/),
    });
    // Both are read from the table now.
    expect([...attachments.values()].map(({ length }) => length)).toEqual([expect.closeTo(picture.length, -3)]);
    const before = read;
    expect((await get()).status).toBe(200);
    expect(read).toBe(before);
  });

  it('are upright where the video is turned', async () => {
    const { get, address } = await start(video(), { video: memorySource(turned(files['progressive.mp4'])) });
    const { cues, picture } = await readPictures(get, address);
    expect(cues[1]?.box).toEqual([90, 0, 90, 160]);
    expect(Math.abs(readLuma(picture, cues)(cues[11]?.box ?? []) - lumaAt(11))).toBeLessThan(5);
  });

  it('are made once for all who ask at once, and not for HEAD', async () => {
    let opened = 0;
    const openSource = async () => {
      opened += 1;
      return memorySource(files['progressive.mp4']);
    };
    const { get, address } = await start(video(), {}, { openSource });
    const head = await get('', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), opened]).toEqual([200, null, 0]);
    const answers = await Promise.all([
      get(),
      get(),
      get('/0.jpg'),
      fetch(`${address.replace('Storyboard', 'Hls')}/0.jpg`),
    ]);
    expect([answers.map(({ status }) => status), opened]).toEqual([[200, 200, 200, 200], 1]);
    const size = String((await answers[0]?.arrayBuffer())?.byteLength);
    expect((await get('', { method: 'HEAD' })).headers.get('content-length')).toBe(size);
  });

  it('come from the smallest file of the item', async () => {
    const tracks = [
      trackOf('video', { video: { codec: 'avc1.42c01f', height: 1080 } }),
      trackOf('small', { video: { codec: 'avc1.42c01f', height: 180 } }),
      trackOf('tiny', { container: 'webm', video: { codec: 'vp9', height: 90 } }),
    ];
    const { get } = await start(resourceOf(tracks, { durationSeconds: SECONDS }), {
      small: memorySource(files['progressive.mp4']),
    });
    expect((await get()).status).toBe(200);
  });

  it('are part of an HLS presentation', async () => {
    const { address } = await start(video(), { video: memorySource(files['progressive.mp4']) });
    const base = `${address.replace('Storyboard', 'Hls')}/`;
    const master = await (await fetch(`${base}master.m3u8`)).text();
    const [, name = ''] = /^#EXT-X-SESSION-DATA:DATA-ID="reelay.storyboard",VALUE="([^"]+)"$/m.exec(master) ?? [];
    const { cues, sheet } = await readPictures(() => fetch(base + name), base + name);
    expect([cues[0]?.url, sheet.headers.get('content-type')]).toEqual([`${base}0.jpg`, 'image/jpeg']);
  });

  it('have signed addresses on a private instance, which only the client keeps', async () => {
    const hash = createHash('sha256').update('an-access-key').digest('hex');
    const { get, address } = await start(video(), { video: memorySource(files['progressive.mp4']) });
    const response = await get('', { headers: { 'x-reelay-access': hash } });
    expect(response.headers.get('cache-control')).toMatch(/^private, /);
    const [, signed = ''] =
      /\/Storyboard\/([^/]+)\/0\.jpg/.exec(readStoryboard(await response.text(), address)[0]?.url ?? '') ?? [];
    expect(createAccessControl([hash]).verify(signed)).toEqual({ hash, key: mediaKey('video') });
  });

  const truncated = () => memorySource(files['progressive.mp4'].subarray(0, 3000));
  const damaged = () => {
    const bytes = Buffer.from(files['fragmented.mp4']);
    // Without keyframes: every frame of the index is another box.
    return memorySource(Buffer.from(bytes.toString('latin1').replaceAll('moof', 'xxxx'), 'latin1'));
  };
  const sound = trackOf('video', { video: null });
  it.each<[string, () => Resource, () => Source, number]>([
    ['a live stream', () => video({ isLive: true }), damaged, 415],
    ['sound alone', () => resourceOf([sound], { durationSeconds: 2 }), () => memorySource(files['sound.m4a']), 415],
    ['HLS', () => resourceOf([trackOf('video', { delivery: 'hls' })], { durationSeconds: 2 }), damaged, 415],
    ['an unknown duration', () => video({ durationSeconds: undefined }), damaged, 415],
    ['a file without fragments', video, damaged, 415],
    ['a file of another format', video, () => memorySource(Buffer.from('<!doctype html>')), 415],
    ['a truncated file', video, truncated, 415],
  ])('do not exist of %s', async (_, resource, source, status) => {
    const { get } = await start(resource(), { video: source() });
    const answers = [await get(), await get('/0.jpg')];
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    expect(await answers[0]?.json()).toMatchObject({ status, type: expect.stringMatching(/unsupported-rendition$/) });
  });

  it('answers 404 for other files and keys, 503 while FFmpeg is missing or busy, and makes them later', async () => {
    const source = memorySource(files['progressive.mp4']);
    let isInstalled = false;
    const { get, url } = await start(
      video(),
      { video: source },
      {
        ffmpeg: () => (isInstalled ? { version: '', path: 'ffmpeg', source: 'system', buildId: '' } : undefined),
      },
    );
    expect((await get()).status).toBe(503);
    isInstalled = true;
    for (const path of ['/1.jpg', '/x.jpg', '/0.png', '/99999.jpg'])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    expect((await fetch(`${url}/api/Stream/Storyboard/nothing`)).status).toBe(404);
    expect((await get()).status).toBe(200);
  });
});

describe('pictures of the site', () => {
  const sheets = [0, 1].map((number) => ({ url: `https://cdn.example/${number}.jpg`, seconds: 9 }));
  const resource = resourceOf(
    [
      trackOf('video'),
      trackOf('storyboard:sb0', { container: 'jpg', video: null, audio: null, fragments: packFragments(sheets) }),
    ],
    {
      storyboard: {
        ...{ formatId: 'storyboard:sb0', width: 160, height: 90, rows: 3, columns: 3 },
        ...{ intervalSeconds: 1.5, count: 11 },
      },
      renditions: resourceOf([trackOf('video')]).renditions,
    },
  );
  /** @param sheet is sent for each address */
  const startWith = (sheet: (address: string) => Source) =>
    start(resource, {}, { openSource: async (_, { url }) => sheet(url) });

  it('are listed at their times, and passed through with their own type', async () => {
    const { get, address } = await startWith((url) =>
      memorySource(url.endsWith('/0.jpg') ? files['sheet.jpg'] : files['sheet.webp']),
    );
    const cues = readStoryboard(await (await get()).text(), address);
    expect(cues).toHaveLength(11);
    expect(cues[4]).toEqual({ start: 6, end: 7.5, url: `${address}/0.jpg`, box: [160, 90, 160, 90] });
    expect(cues[10]).toEqual({ start: 15, end: 16.5, url: `${address}/1.jpg`, box: [160, 0, 160, 90] });
    const [first, second] = await Promise.all(['/0.jpg', '/1.jpg'].map((path) => get(path)));
    expect([first, second].map((sheet) => sheet?.headers.get('content-type'))).toEqual(['image/jpeg', 'image/webp']);
    expect(Buffer.from((await second?.arrayBuffer()) ?? new ArrayBuffer()).equals(files['sheet.webp'])).toBe(true);
    expect((await get('/2.jpg')).status).toBe(404);
  });

  it.each<[string, () => FileSource]>([
    ['is HTML', () => memorySource(Buffer.from('<!doctype html><script>alert(1)</script>'))],
    ['is a GIF', () => memorySource(Buffer.from('GIF89a'))],
    ['is too large', () => memorySource(Buffer.concat([files['sheet.jpg'], Buffer.alloc(8 * 1024 * 1024)]))],
  ])('answers 502 for a sheet that %s', async (_, sheet) => {
    const { get } = await startWith(sheet);
    expect((await get('/0.jpg')).status).toBe(502);
  });
});
