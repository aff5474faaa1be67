import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryShares } from '../../core/config/index.ts';
import { type StandaloneCase, startReelay } from '../bench.ts';
import { streamOf } from '../clients.ts';
import { type HostileOrigin, startHostileOrigin } from '../hostile-origin.ts';
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
