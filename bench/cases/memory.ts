import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryShares } from '../../core/config/index.ts';
import { type Case, startReelay } from '../bench.ts';
import { type HostileOrigin, startHostileOrigin } from '../hostile-origin.ts';
import type { Server } from '../processes.ts';

const CLIENTS = 8;
const SECONDS = Number(process.env.MEMORY_SECONDS ?? 45);
const SAMPLE_INTERVAL_MS = 250;
/** Longer than the probe waits for its next file before it ends. */
const SETTLE_MS = 75_000;
/** As README.md and docs/operating-one-machine.md state it, for the shares of this machine. */
const statedBytes = (): number => {
  const { forks, forkBytes, ffmpegs, readAheadBytes } = memoryShares();
  return 500e6 + (forks * forkBytes) / 4 + ffmpegs * 100e6 + readAheadBytes;
};

/**
 * Clients that send links made to take memory, each several at a time, and read no byte of streams whose segments
 * contain huge pictures. The figures are proportional set sizes (PSS): forks share most of their memory.
 */
export const memory: Case = async function* () {
  const origin = await startHostileOrigin();
  const data = await mkdtemp(join(tmpdir(), 'bench-memory-'));
  const service = await startReelay(origin.host, data, { TRUSTED_PROXIES: '1' });
  try {
    // So that all processes run that an instance in use has.
    for (const link of origin.links().slice(0, 2)) await readLink(service, link);
    await pause(SETTLE_MS);
    const before = service.residentBytes();
    const over = new AbortController();
    const attacks = Array.from({ length: CLIENTS }, (_, number) => attack(service, origin, number, over.signal));
    let peak = 0;
    for (const end = performance.now() + SECONDS * 1000; performance.now() < end; ) {
      await pause(SAMPLE_INTERVAL_MS);
      peak = Math.max(peak, service.residentBytes());
    }
    over.abort();
    const answered = (await Promise.all(attacks)).flat();
    await pause(SETTLE_MS);
    const after = service.residentBytes();
    process.stderr.write(`${JSON.stringify({ before, peak, after, answered: countBy(answered) })}\n`);

    const what = (text: string) => `memory, ${CLIENTS} hostile clients for ${SECONDS} s: ${text}`;
    const alone = { rival: Number.NaN, rivalName: '', unit: 'MB' };
    yield { what: what('before'), ours: before / 1e6, ...alone };
    yield { what: what('at most'), ours: peak / 1e6, ...alone, atMost: statedBytes() / 1e6 };
    yield {
      what: what('afterwards'),
      ours: after / 1e6,
      rival: before / 1e6,
      rivalName: 'before',
      unit: 'MB',
      atMost: 1.4,
    };
  } finally {
    await service.close();
    await origin.close();
    await rm(data, { recursive: true, force: true });
  }
};

/** One client: all hostile links at once, again and again, and a stream that it does not read. @returns the statuses */
async function attack(service: Server, origin: HostileOrigin, number: number, signal: AbortSignal): Promise<number[]> {
  const headers = { 'x-forwarded-for': `192.0.2.${number + 1}` };
  const statuses: number[] = [];
  const unread: IncomingMessage[] = [];
  const resolve = async (link: string) => {
    const response = await request(
      `${service.baseUrl}/api/Fetch/GetResource?${new URLSearchParams({ url: link })}`,
      headers,
    );
    statuses.push(response?.statusCode ?? 0);
    return response ? readText(response) : '';
  };
  const stream = async () => {
    const [, key] = /"audio".*?"bestQualityKey":"([^"]+)"/s.exec(await resolve(origin.pictures())) ?? [];
    const response = key && (await request(`${service.baseUrl}/api/Stream/Media/${key}?format=mp3`, headers));
    if (!response) return;
    statuses.push(response.statusCode ?? 0);
    unread.push(response);
  };
  while (!signal.aborted) await Promise.all([...origin.links().map(resolve), stream(), stream()]);
  for (const response of unread) response.destroy();
  return statuses;
}

/** Undefined when the connection breaks. */
async function request(url: string, headers: Record<string, string>): Promise<IncomingMessage | undefined> {
  try {
    const [response] = (await once(get(url, { headers, agent: false }), 'response')) as [IncomingMessage];
    return response.on('error', () => undefined);
  } catch {
    return undefined;
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function readLink({ baseUrl }: Server, link: string): Promise<void> {
  await (await fetch(`${baseUrl}/api/Fetch/GetResource?${new URLSearchParams({ url: link })}`)).arrayBuffer();
}

function countBy(values: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
