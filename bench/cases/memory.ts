import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryShares } from '../../core/config/index.ts';
import { type StandaloneCase, startReelay } from '../bench.ts';
import { type HeapClass, heapGrowth, readHeapClasses } from '../heap-snapshot.ts';
import { type HostileOrigin, startHostileOrigin } from '../hostile-origin.ts';
import { residentBytesOf, type Server } from '../processes.ts';

const RUNS = Number(process.env.MEMORY_RUNS ?? 3);
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
 * Where memory does not come back, the heap afterwards is compared with that of another service at rest: a snapshot
 * before would itself change what the service holds.
 */
export const memory: StandaloneCase = async function* () {
  const origin = await startHostileOrigin();
  try {
    for (let run = 1; run <= RUNS; run += 1) {
      const { before, peak, after, classes } = await withService(origin, (service) => measure(service, origin));
      const what = (text: string) => `memory, ${CLIENTS} hostile clients, run ${run}: ${text}`;
      const alone = { rival: Number.NaN, rivalName: '', unit: 'MB' };
      yield { what: what('before'), ours: before / 1e6, ...alone };
      yield { what: what('at most'), ours: peak / 1e6, ...alone, atMost: statedBytes() / 1e6 };
      const figure = { rival: before / 1e6, rivalName: 'before', unit: 'MB', atMost: MAX_RATIO };
      yield { what: what('afterwards'), ours: after / 1e6, ...figure };
      if (!classes) continue;
      const atRest = await withService(origin, async (service) => {
        await settle(service, origin);
        return service.heap();
      });
      process.stderr.write(`${heapGrowth(atRest, classes).join('\n')}\n`);
    }
  } finally {
    await origin.close();
  }
};

interface MeasuredService extends Server {
  /** What its heap contains now. */
  heap(): Promise<ReadonlyMap<string, HeapClass>>;
}

async function withService<T>(origin: HostileOrigin, use: (service: MeasuredService) => Promise<T>): Promise<T> {
  const data = await mkdtemp(join(tmpdir(), 'bench-memory-'));
  const file = join(data, 'heap.heapsnapshot');
  try {
    const service = await startReelay(origin.host, data, { TRUSTED_PROXIES: '1', HEAP_SNAPSHOT: file });
    const heap = async () => {
      process.kill(service.pid, 'SIGUSR2');
      while (!existsSync(file)) await pause(SAMPLE_INTERVAL_MS);
      return readHeapClasses(file);
    };
    try {
      return await use({ ...service, heap });
    } finally {
      await service.close();
    }
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

/** So that all processes run that an instance in use has, and then those that it has at rest. */
async function settle(service: Server, origin: HostileOrigin): Promise<void> {
  for (const link of origin.links().slice(0, 2)) await visit(service, {}, link);
  await pause(SETTLE_MS);
}

async function measure(service: MeasuredService, origin: HostileOrigin) {
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
  const isCompared = after > before * MAX_RATIO || process.env.MEMORY_HEAP !== undefined;
  const classes = isCompared ? await service.heap() : undefined;
  // A snapshot collects garbage first: what is left of the difference is in the heap, or held by the allocator.
  if (classes) process.stderr.write(`With garbage collected: ${Math.round(service.residentBytes() / 1e6)} MB\n`);
  return { before, peak, after, classes };
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
      const { body } = await read(`${service.baseUrl}/api/Fetch/GetResource?${query(origin.pictures())}`, headers);
      const [, key] = /"audio".*?"bestQualityKey":"([^"]+)"/s.exec(body) ?? [];
      const response = key && (await request(`${service.baseUrl}/api/Stream/Media/${key}?format=mp3`, headers));
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

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
