import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { memoryShares } from '../../core/config/index.ts';
import { HOSTILE_LINKS, serveHostileLinks } from '../../test/attacks/hostile-links.ts';
import { HOSTILE_MP4 } from '../../test/attacks/hostile-mp4.ts';
import { LARGE_CAPTIONS, LARGE_PLAYLISTS, largeItems } from '../../test/attacks/large-inputs.ts';
import type { OriginHandler } from '../../test/origin/handler.ts';
import { ensureMedia } from '../../test/origin/media.ts';
import { json, writeFileHead } from '../../test/origin/respond.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { readTemplate } from '../../test/stream-service/outputs/layout/generated-source.ts';
import { type StandaloneCase, startReelay } from '../bench.ts';
import { streamOf } from '../clients.ts';
import { residentBytesOf, type Server } from '../processes.ts';

const RUNS = 3;
const CLIENTS = 8;
/** How often each of the pages that expand is requested. */
const PAGE_ROUNDS = 3;
/** Links of one client that are requested at the same time. */
const CONCURRENT = 3;
/** What is read of a stream: enough to pass several fragments. */
const MAX_READ_BYTES = 10 * 1024 * 1024;
/** Live sources have no end. */
const READ_TIMEOUT_MS = 60_000;
const SAMPLE_INTERVAL_MS = 250;
/** Longer than a parsing process waits for its next task before it ends. */
const SETTLE_MS = 75_000;
/** Largest memory afterwards, as a multiple of the memory before. */
const MAX_RATIO = 1.3;
/** As README.md and docs/operating-one-machine.md state it, for the shares of this machine. */
const statedBytes = (): number => {
  const { forks, forkBytes, ffmpegs, readAheadBytes } = memoryShares();
  return 500e6 + (forks * forkBytes) / 4 + ffmpegs * 100e6 + readAheadBytes;
};

/**
 * Clients that send links made to take memory, and the corpus and the largest files of `test/attacks`, several at a time,
 * and read no byte of streams whose segments contain huge pictures; in each run on a new service. The figures are
 * proportional set sizes (PSS): forks share most of their memory.
 *
 * Where memory does not come back: run with `NODE_OPTIONS=--heapsnapshot-signal=SIGUSR2`, send that signal to the service
 * at rest and afterwards, and compare the two files in the developer tools of Chromium.
 */
export const memory: StandaloneCase = async function* () {
  const origin = await startHostileOrigin();
  try {
    for (let run = 1; run <= RUNS; run += 1) {
      const service = await startReelay(origin.host, { TRUSTED_PROXIES: '1' });
      const { before, peak, after } = await measure(service, origin).finally(service.close);
      const what = (text: string) => `memory, ${CLIENTS} hostile clients, run ${run}: ${text}`;
      const unit = 'MB';
      yield { what: what('before'), ours: before / 1e6, unit };
      yield { what: what('at most'), ours: peak / 1e6, unit, atMost: statedBytes() / 1e6 };
      const figure = { rival: before / 1e6, rivalName: 'before', unit, atMost: MAX_RATIO };
      yield { what: what('afterwards'), ours: after / 1e6, ...figure };
    }
  } finally {
    await origin.close();
  }
};

/** So that all processes run that an instance in use has, and then those that it has at rest. */
async function settle(service: Server, origin: HostileOrigin): Promise<void> {
  for (const link of origin.links().slice(0, 2)) await visit(service, {}, link);
  await pause(SETTLE_MS);
}

async function measure(service: Server, origin: HostileOrigin) {
  await settle(service, origin);
  const before = service.residentBytes();
  const processesBefore = eachProcess(service);
  const cpuSecondsBefore = service.cpuSeconds();
  let peak = 0;
  const watching = setInterval(() => {
    peak = Math.max(peak, service.residentBytes());
  }, SAMPLE_INTERVAL_MS);
  const start = performance.now();
  const statuses = await attackAll(service, origin);
  clearInterval(watching);
  const seconds = Math.round((performance.now() - start) / 1000);
  await pause(SETTLE_MS);
  const after = service.residentBytes();
  const cpuSeconds = service.cpuSeconds() - cpuSecondsBefore;
  const processes = { before: processesBefore, after: eachProcess(service) };
  const details = { before, peak, after, seconds, cpuSeconds, processes, statuses: countBy(statuses) };
  process.stderr.write(`${JSON.stringify(details)}\n`);
  return { before, peak, after };
}

/** Megabytes of each process of the service, itself first. */
const eachProcess = ({ pid, descendants }: Server): number[] =>
  [pid, ...descendants()].map((each) => Math.round(residentBytesOf(each) / 1e6));

/** Clients that share all links, and each hold streams that they do not read. */
async function attackAll(service: Server, origin: HostileOrigin): Promise<number[]> {
  const links = [...Array.from({ length: PAGE_ROUNDS }, () => origin.links()).flat(), ...origin.corpus()];
  const statuses: number[] = [];
  const unread: IncomingMessage[] = [];
  const attack = async (_: unknown, number: number) => {
    const headers = { 'x-forwarded-for': `192.0.2.${number + 1}` };
    const hold = async () => {
      const init = { headers, signal: AbortSignal.timeout(READ_TIMEOUT_MS) };
      const url = await streamOf(service, origin.pictures(), init, ['audio']).catch(() => undefined);
      const response = url && (await request(`${url}?format=mp3`, headers));
      if (response) unread.push(response);
    };
    const visitNext = async () => {
      for (let link = links.shift(); link; link = links.shift())
        statuses.push(...(await visit(service, headers, link)));
    };
    await Promise.all([hold(), hold(), ...Array.from({ length: CONCURRENT }, visitNext)]);
  };
  await Promise.all(Array.from({ length: CLIENTS }, attack));
  for (const response of unread) response.destroy();
  return statuses;
}

/** Resolves a link and reads the start of everything that it is offered as. @returns the statuses */
async function visit({ baseUrl }: Server, headers: Record<string, string>, link: string): Promise<number[]> {
  const resource = await read(`${baseUrl}/api/Fetch/GetResource?${query(link)}`, headers);
  if (resource.status !== 200) return [resource.status];
  const details = await read(`${baseUrl}/api/Fetch/GetDetails?${query(link)}`, headers);
  const feed = await read(`${baseUrl}/api/Feed?${query(link)}`, headers);
  const keys = ({ body }: { body: string }) => [...new Set(body.match(/(?<=[kK]ey":")[^"]+/g))];
  const statuses = [resource.status, details.status, feed.status];
  const readStream = async (path: string) => {
    const { status } = await read(`${baseUrl}/api/Stream/${path}`, headers);
    statuses.push(status);
    return status;
  };
  const media = keys(resource);
  const [key] = media;
  // A file that does not exist is resolved again for each request.
  if (key === undefined || (await readStream(`Media/${key}`)) === 404) return statuses;
  await readStream(`Media/${key}?start=0&end=3`);
  await readStream(`Hls/${key}/master.m3u8`);
  for (const subtitle of keys(details).filter((each) => !media.includes(each)))
    await readStream(`Subtitle/${subtitle}?format=vtt`);
  return statuses;
}

/** @returns undefined when the connection breaks */
async function request(
  url: string,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<IncomingMessage | undefined> {
  try {
    const [response] = (await once(get(url, { headers, agent: false, ...(signal && { signal }) }), 'response')) as [
      IncomingMessage,
    ];
    return response.on('error', () => undefined);
  } catch {
    return undefined;
  }
}

/** Reads the start of an answer; status 0 when there is none. */
async function read(url: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  const response = await request(url, headers, AbortSignal.timeout(READ_TIMEOUT_MS));
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response ?? []) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_READ_BYTES) break;
      chunks.push(chunk as Buffer);
    }
  } catch {
    // Broken off: by the service, for what it cannot continue, or by the timeout.
  }
  return { status: response?.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
}

const query = (link: string) => new URLSearchParams({ url: link });

function countBy(values: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** A source whose every page and file is designed to exhaust memory. */
interface HostileOrigin {
  /** `host:port`. */
  readonly host: string;
  /** Pages that expand to far more than they are. Each call makes other links. */
  links(): readonly string[];
  /** The corpus of `test/attacks`, and items with its largest files. */
  corpus(): readonly string[];
  /** A playlist whose segments hold pictures of 8192 × 8192 pixels beside their sound. */
  pictures(): string;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;

/** A DASH manifest that names `count` segments below a base of `baseLength` characters. */
const manifest = (baseLength: number, count: number) =>
  `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT40H"><Period><BaseURL>${'b'.repeat(baseLength)}</BaseURL><AdaptationSet mimeType="audio/mp4"><Representation id="a" bandwidth="128000" codecs="mp4a.40.2"><SegmentTemplate media="$Number$.m4s" initialization="i.mp4" timescale="1"><SegmentTimeline><S t="0" d="1" r="${count - 1}"/></SegmentTimeline></SegmentTemplate></Representation></AdaptationSet></Period></MPD>`;

const playlist = (line: (index: number) => string, bytes: number) => {
  const lines = ['#EXTM3U', '#EXT-X-TARGETDURATION:1'];
  for (let index = 0, length = 0; length < bytes; index++) {
    const next = line(index);
    lines.push(next);
    length += next.length + 1;
  }
  return `${lines.join('\n')}\n#EXT-X-ENDLIST\n`;
};

type Page = readonly [type: string, body: Buffer | string, encoding?: string];

function createPages(): Readonly<Record<string, Page>> {
  const dash = 'application/dash+xml';
  const hls = 'application/vnd.apple.mpegurl';
  const zeros = gzipSync(Buffer.alloc(512 * MIB));
  return {
    'long-base.mpd': [dash, manifest(7_900, 2_000)],
    'many.mpd': [dash, manifest(100, 49_000)],
    'endless.mpd': [dash, manifest(100, 2_000_000_000)],
    'bomb.html': ['text/html', zeros, 'gzip'],
    'bomb.m3u8': [hls, zeros, 'gzip'],
    'lines.m3u8': [hls, playlist(() => '#EXT', 8 * MIB)],
    'segments.m3u8': [hls, playlist((index) => `#EXTINF:1,\n${'s'.repeat(60)}${index}.ts`, 7 * MIB)],
    'hints.m3u8': [hls, playlist((index) => `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${index}"`, 8 * MIB)],
    'page.html': ['text/html', `<html>${'<a href="'.repeat(800_000)}</html>`],
    'feed.xml': [
      'application/rss+xml',
      `<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>${Array.from({ length: 20_000 }, (_, index) => `<item><title>${'t'.repeat(200)}</title><enclosure url="/f/${index}.mp3" type="audio/mpeg"/></item>`).join('')}</channel></rss>`,
    ],
    'pictures.m3u8': [hls, playlist((index) => `#EXTINF:4.0,\nhuge.ts?${index}`, 2_000)],
  };
}

function makePictures(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'bench-hostile-'));
  const file = join(folder, 'huge.ts');
  const sources = ['-f', 'lavfi', '-i', 'color=s=8192x8192:d=0.2:r=10', '-f', 'lavfi', '-i', 'sine=d=4'];
  const coding = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-threads', '1', '-c:a', 'aac'];
  try {
    execFileSync('ffmpeg', ['-v', 'error', ...sources, ...coding, '-f', 'mpegts', file]);
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startHostileOrigin(): Promise<HostileOrigin> {
  const pages = createPages();
  const huge = makePictures();
  const mediaDir = await ensureMedia();
  const items = createHostileItems(mediaDir);
  let made = 0;

  const answer: OriginHandler = ({ path, response }) => {
    const name = path.split('/').at(-1) ?? '';
    if (name === 'huge.ts') return void response.writeHead(200, { 'content-type': 'video/mp2t' }).end(huge);
    const page = pages[name];
    if (!page) return void response.writeHead(404).end();
    const [type, body, encoding] = page;
    const headers = { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) };
    response.writeHead(200, headers).end(body);
  };
  const { host, close } = await startOrigin({
    mediaDir,
    mounts: {
      '/expanding/': answer,
      '/hostile/': serveHostileLinks(),
      '/site-api/': items.describe,
      '/generated/': items.serve,
    },
  });
  const link = (name: string) => `http://${host}/expanding/${made++}/${name}`;
  const listed = [...HOSTILE_LINKS.map(({ name }) => `hostile/${name}`), ...items.names.map((name) => `site/${name}`)];

  return {
    host,
    links: () => Object.keys(pages).map(link),
    corpus: () => listed.map((path) => `http://${host}/${path}?${made++}`),
    pictures: () => link('pictures.m3u8'),
    close,
  };
}

/** Media data behind the header of a hostile MP4 file. */
const MEDIA_BYTES = 64 * 1024 * 1024;
const ZEROS = Buffer.alloc(MEDIA_BYTES);

/**
 * The files of `test/attacks` that are as large as their readers accept, and the items that have them.
 * @param mediaDir folder of the origin's media
 * @returns names of items for `/site/{name}`, what the test extractor is answered, and the files, `/generated/{number}`
 */
function createHostileItems(mediaDir: string) {
  const header = readTemplate(`${mediaDir}/ladder/h264-360.mp4`, 'vide', 90_000);
  const files: (() => Buffer)[] = [];
  /** @returns the path of the file, which is made when it is first requested */
  const add = (make: () => string | Buffer): string => {
    let made: Buffer | undefined;
    files.push(() => {
      made ??= Buffer.from(make());
      return made;
    });
    return `/generated/${files.length - 1}`;
  };
  const videos = HOSTILE_MP4.map(({ make }) => add(() => make(header)));
  const playlists = Object.values(LARGE_PLAYLISTS).map(add);
  const captions = Object.values(LARGE_CAPTIONS).map(add);

  const items: Record<string, (base: string) => object> = {};
  for (const [index, path] of videos.entries())
    items[`mp4-${index}`] = (base) => ({
      duration: 60,
      formats: [
        { format_id: 'v', url: base + path, ext: 'mp4', protocol: 'http', vcodec: 'avc1', acodec: 'none', height: 360 },
        { ...sound, url: `${base}/files/ladder/aac-128.m4a` },
      ],
    });
  for (const described of [{ vcodec: 'avc1', acodec: 'mp4a.40.2', duration: 10 }, {}])
    for (const path of playlists)
      items[`playlist-${Object.keys(items).length}`] = (base) => ({
        formats: [{ format_id: 'p', url: base + path, protocol: 'm3u8_native', ext: 'mp4', ...described }],
      });
  items.captions = (base) => ({
    formats: [{ format_id: 'f', ext: 'mp4', protocol: 'https', url: `${base}/files/clip.mp4` }],
    subtitles: Object.fromEntries(captions.map((path, index) => [`l${index}`, [{ ext: 'vtt', url: base + path }]])),
  });
  for (const name of Object.keys(largeItems('')))
    items[name.replaceAll(' ', '-')] = (base) => largeItems(base)[name]?.() ?? {};

  return {
    names: Object.keys(items),
    describe(exchange: Exchange) {
      const { path, url } = exchange;
      json(exchange, { info: { id: path, title: path, ...items[path]?.(url.origin) } });
    },
    serve({ path, request, response }: Exchange) {
      const head = files[Number(path)]?.();
      if (!head) return void response.writeHead(404).end();
      const isMedia = Number(path) < videos.length;
      const bytes = head.length + (isMedia ? MEDIA_BYTES : 0);
      const headers = { 'content-type': isMedia ? 'video/mp4' : 'text/plain', etag: `"${path}"` };
      const range = writeFileHead(request, response, bytes, headers);
      if (!range) return;
      const { first, last } = range;
      response.write(head.subarray(first, last + 1));
      response.end(ZEROS.subarray(Math.max(0, first - head.length), Math.max(0, last + 1 - head.length)));
    },
  };
}

/** What a handler of the origin gets. */
type Exchange = Parameters<OriginHandler>[0];

const sound = { format_id: 'a', ext: 'm4a', protocol: 'http', vcodec: 'none', acodec: 'mp4a.40.2' };
