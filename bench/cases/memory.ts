import { extname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryShares } from '../../core/config/index.ts';
import { HOSTILE_LINKS, serveHostileLinks } from '../../test/attacks/hostile-links.ts';
import { HOSTILE_MP4 } from '../../test/attacks/hostile-mp4.ts';
import { LARGE_CAPTIONS, LARGE_PLAYLISTS, largeItems } from '../../test/attacks/large-inputs.ts';
import type { OriginHandler } from '../../test/origin/handler.ts';
import { ensureMedia } from '../../test/origin/media.ts';
import { json, writeFileHead } from '../../test/origin/respond.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { readTemplate } from '../../test/stream-service/outputs/layout/generated-source.ts';
import { type Bench, type Case, startReelay } from '../bench.ts';
import { peakBytes, request, resolveUrl } from '../clients.ts';
import { type Figure, unlessShort } from '../figures.ts';
import type { Server } from '../processes.ts';

/** What a thousand slow clients cost, and what hostile clients do. The figures are proportional set sizes (PSS). */
export const memory: Case = async function* (bench) {
  yield* slowClients(bench);
  yield* hostileClients();
};

const SLOW_CLIENTS = unlessShort(1000, 100);
const BYTES_PER_SECOND = 200_000;
const SLOW_MS = unlessShort(15_000, 5000);
const MAX_SLOW_MB = 400;

async function* slowClients(bench: Bench): AsyncGenerator<Figure> {
  await bench.origin.publish('slow', [{ file: 'video.mp4', holds: 'video' }], 60);
  const ours = await serveSlowly(bench.service, await bench.stream('slow'));
  const what = `${SLOW_CLIENTS} clients at 200 kB/s`;
  yield { what: `${what}: served`, ours: ours.served, atLeast: SLOW_CLIENTS };
  yield { what: `${what}: resident`, ours: ours.megabytes, unit: 'MB', atMost: MAX_SLOW_MB };
  for (const name of ['nginx', 'rclone', 'mediaflow'] as const) {
    const rival = await bench.rival(name);
    if (!rival) continue;
    const { served, megabytes } = await serveSlowly(rival, rival.urlOf('/media/video.mp4'));
    const rivalName = `${rival.title}, ${served} served`;
    yield { what: `${what}: resident`, ours: ours.megabytes, rival: megabytes, rivalName, unit: 'MB' };
  }
}

/** @returns how many clients were answered, and the most memory of the server meanwhile */
async function serveSlowly(server: Server, url: string): Promise<{ served: number; megabytes: number }> {
  const leave = new AbortController();
  let served = 0;
  const client = async () => {
    const response = await request(url, { signal: leave.signal });
    if (response.statusCode === 200) served += 1;
    const start = performance.now();
    let taken = 0;
    for await (const { length } of response) {
      taken += length;
      const early = (taken / BYTES_PER_SECOND) * 1000 - (performance.now() - start);
      if (early > 0) await pause(early);
    }
  };
  const clients = Array.from({ length: SLOW_CLIENTS }, () => client().catch(() => undefined));
  const peak = await peakBytes(server, () => pause(SLOW_MS));
  leave.abort();
  await Promise.all(clients);
  return { served, megabytes: peak / 1e6 };
}

const HOSTILE_RUNS = unlessShort(3);
const HOSTILE_CLIENTS = 8;
/** Links of one client that are requested at the same time. */
const CONCURRENT = 3;
/** What is read of a stream: enough to pass several fragments. */
const MAX_READ_BYTES = 10 * 1024 * 1024;
const READ_TIMEOUT_MS = 60_000;
/** Longer than a parsing process waits for its next task before it ends. */
const SETTLE_MS = unlessShort(75_000, 1000);
/** Largest memory afterwards, as a multiple of the memory before. */
const MAX_RATIO = 1.3;
/** As README.md and docs/operating-one-machine.md state it, for the shares of this machine. */
const statedBytes = (): number => {
  const { forks, forkBytes, ffmpegs, readAheadBytes } = memoryShares();
  return 500e6 + (forks * forkBytes) / 4 + ffmpegs * 100e6 + readAheadBytes;
};

/**
 * Clients that send the corpus and the largest files of `test/attacks`, several at a time; in each run to a new service.
 *
 * Where memory does not come back: run with `NODE_OPTIONS=--heapsnapshot-signal=SIGUSR2`, send that signal to the service
 * at rest and afterwards, and compare the two files in the developer tools of Chromium.
 */
async function* hostileClients(): AsyncGenerator<Figure> {
  const origin = await startHostileOrigin();
  try {
    for (let run = 1; run <= HOSTILE_RUNS; run += 1) {
      const service = await startReelay(origin.host, { TRUSTED_PROXIES: '1' });
      const { before, peak, after } = await measure(service, origin.links()).finally(service.close);
      const what = (text: string) => `${HOSTILE_CLIENTS} hostile clients, run ${run}: ${text}`;
      const unit = 'MB';
      yield { what: what('before'), ours: before / 1e6, unit };
      yield { what: what('at most'), ours: peak / 1e6, unit, atMost: statedBytes() / 1e6 };
      const figure = { rival: before / 1e6, rivalName: 'before', unit, atMost: MAX_RATIO };
      yield { what: what('afterwards'), ours: after / 1e6, ...figure };
    }
  } finally {
    await origin.close();
  }
}

async function measure(service: Server, links: string[]) {
  // So that all processes run that an instance in use has, and then those that it has at rest.
  for (const link of links.slice(0, 2)) await visit(service, {}, `${link}&first`);
  await pause(SETTLE_MS);
  const before = service.residentBytes();
  const client = async (number: number) => {
    const headers = { 'x-forwarded-for': `192.0.2.${number + 1}` };
    for (let link = links.shift(); link; link = links.shift()) await visit(service, headers, link);
  };
  const clients = Array.from({ length: HOSTILE_CLIENTS * CONCURRENT }, (_, index) => index % HOSTILE_CLIENTS);
  const peak = await peakBytes(service, () => Promise.all(clients.map(client)));
  await pause(SETTLE_MS);
  return { before, peak, after: service.residentBytes() };
}

/** Resolves a link and reads the start of everything that it is offered as. */
async function visit(service: Server, headers: Record<string, string>, link: string): Promise<void> {
  const read = async (url: string) => {
    const { status, body } = await readStart(url, headers);
    return { status, keys: [...new Set(body.match(/(?<=[kK]ey":")[^"]+/g))] };
  };
  const resource = await read(resolveUrl(service, link));
  if (resource.status !== 200) return;
  const query = new URLSearchParams({ url: link });
  const details = await read(`${service.baseUrl}/api/Fetch/GetDetails?${query}`);
  await read(`${service.baseUrl}/api/Feed?${query}`);
  const [key] = resource.keys;
  const stream = (path: string) => read(`${service.baseUrl}/api/Stream/${path}`);
  // A file that does not exist is resolved again for each request.
  if (key === undefined || (await stream(`Media/${key}`)).status === 404) return;
  await stream(`Media/${key}?start=0&end=3`);
  await stream(`Hls/${key}/master.m3u8`);
  for (const subtitle of details.keys.filter((each) => !resource.keys.includes(each)))
    await stream(`Subtitle/${subtitle}?format=vtt`);
}

/** Reads the start of an answer; status 0 when there is none. */
async function readStart(url: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  let status = 0;
  let body = '';
  try {
    const response = await request(url, { headers, signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
    status = response.statusCode ?? 0;
    for await (const chunk of response) {
      body += chunk;
      if (body.length > MAX_READ_BYTES) break;
    }
  } catch {
    // Broken off: by the service, for what it cannot continue, or by the timeout.
  }
  return { status, body };
}

/** Media data behind the header of a hostile MP4 file. */
const ZEROS = Buffer.alloc(64 * 1024 * 1024);

/** A source of the corpus of `test/attacks`, and of items that have its largest files. */
async function startHostileOrigin() {
  const mediaDir = await ensureMedia();
  const header = readTemplate(`${mediaDir}/ladder/h264-360.mp4`, 'vide', 90_000);
  const makers = new Map<string, () => string | Buffer>([
    ...HOSTILE_MP4.map(({ make }, index) => [`${index}.mp4`, () => make(header)] as const),
    ...Object.values(LARGE_PLAYLISTS).map((make, index) => [`${index}.m3u8`, make] as const),
    ...Object.values(LARGE_CAPTIONS).map((make, index) => [`${index}.vtt`, make] as const),
  ]);
  const made = new Map<string, Buffer>();
  const serve: OriginHandler = ({ path, request, response }) => {
    const head = made.get(path) ?? Buffer.from(makers.get(path)?.() ?? '');
    made.set(path, head);
    const isMedia = extname(path) === '.mp4';
    const bytes = head.length + (isMedia ? ZEROS.length : 0);
    const headers = { 'content-type': isMedia ? 'video/mp4' : 'text/plain', etag: `"${path}"` };
    const range = writeFileHead(request, response, bytes, headers);
    if (!range) return;
    const { first, last } = range;
    response.write(head.subarray(first, last + 1));
    response.end(ZEROS.subarray(Math.max(0, first - head.length), Math.max(0, last + 1 - head.length)));
  };
  const origin = await startOrigin({
    mediaDir,
    mounts: {
      '/hostile/': serveHostileLinks(),
      '/generated/': serve,
      '/site-api/': (exchange) => {
        const { path, url } = exchange;
        const info = largeItems(url.origin)[path]?.() ?? describe(path, url.origin);
        json(exchange, { info: { id: path, title: path, ...info } });
      },
    },
  });
  const items = [...makers.keys(), ...Object.keys(largeItems(''))].map(encodeURIComponent);
  const paths = [...HOSTILE_LINKS.map(({ name }) => `/hostile/${name}`), ...items.map((name) => `/site/${name}`)];
  let round = 0;
  return {
    host: origin.host,
    /** Each call gives other links to the same sources. */
    links() {
      round += 1;
      return paths.map((path) => origin.url(`${path}?${round}`));
    },
    close: origin.close,
  };
}

/** What the test extractor is answered about an item that has a generated file. */
function describe(name: string, base: string): object {
  const url = `${base}/generated/${name}`;
  const file = { format_id: 'f', ext: 'mp4', protocol: 'http', vcodec: 'avc1', acodec: 'mp4a.40.2' };
  const clip = { ...file, url: `${base}/files/clip.mp4` };
  if (name.endsWith('.vtt')) return { formats: [clip], subtitles: { en: [{ ext: 'vtt', url }] } };
  if (name.endsWith('.m3u8')) return { duration: 10, formats: [{ ...file, url, protocol: 'm3u8_native' }] };
  const sound = { ...file, format_id: 'a', ext: 'm4a', vcodec: 'none', url: `${base}/files/ladder/aac-128.m4a` };
  return { duration: 60, formats: [{ ...file, url, acodec: 'none', height: 360 }, sound] };
}
