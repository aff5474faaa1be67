import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import type { Origin } from '../../test/origin/server.ts';
import { atRest } from '../at-rest.ts';
import { attack, from, RequestFailed, startMixedOrigin, streamPath } from '../attackers.ts';
import { type StandaloneCase, startReelay } from '../bench.ts';
import type { Server } from '../processes.ts';

const SECONDS = Number(process.env.CAMPAIGN_SECONDS ?? 600);
const GOOD_CLIENTS = 6;
const HOSTILE_CLIENTS = 3;
const KILL_INTERVAL_MS = 4_000;
/** A killed process costs the requests that it served, which are repeated as clients do. */
const ATTEMPTS = 4;
const RETRY_MS = 1_500;
/** Longer than the probe waits for its next file before it ends. */
const SETTLE_MS = 75_000;

/** What a good client does: gives a path, and which bytes of the answer count. */
interface Task {
  readonly name: string;
  readonly path: (address: string, turn: number) => Promise<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Well-behaved clients, hostile clients and killed processes together: no request is lost, no byte is wrong, no
 * resource leaks.
 */
export const campaign: StandaloneCase = async function* () {
  const origin = await startMixedOrigin();
  const data = await mkdtemp(join(tmpdir(), 'bench-campaign-'));
  const service = await startReelay(origin.host, data, { TRUSTED_PROXIES: '1', MAX_STREAMS_PER_CLIENT: '16' });
  try {
    const tasks = tasksOf(service, origin);
    const expected = new Map<string, string>();
    for (const task of tasks) expected.set(task.name, await digestOf(service, task, '192.0.2.1', 0));
    const before = await atRest(service, data);
    const residentBefore = service.residentBytes();

    const tally = { done: 0, repeated: 0, lost: new Map<string, number>(), wrong: new Map<string, number>(), kills: 0 };
    const count = (map: Map<string, number>, name: string) => map.set(name, (map.get(name) ?? 0) + 1);
    const over = new AbortController();
    const goodClient = async (_: unknown, number: number) => {
      const address = `192.0.2.${number + 1}`;
      for (let turn = number; !over.signal.aborted; turn += 1) {
        const task = tasks[turn % tasks.length] as Task;
        const digest = await withAttempts(
          () => digestOf(service, task, address, turn),
          () => {
            tally.repeated += 1;
          },
        ).catch((error: Error) => error);
        if (digest instanceof Error) count(tally.lost, `${task.name}: ${digest.message}`);
        else if (digest !== expected.get(task.name)) count(tally.wrong, task.name);
        else tally.done += 1;
      }
    };
    const killing = setInterval(() => {
      const children = service.descendants();
      const victim = children[Math.floor(Math.random() * children.length)];
      if (victim === undefined) return;
      // A stopped process neither works nor exits: the service has to detect it.
      const signal = tally.kills % 4 === 3 ? 'SIGSTOP' : 'SIGKILL';
      tally.kills += Number(send(victim, signal));
    }, KILL_INTERVAL_MS);
    let peakBytes = 0;
    const watching = setInterval(() => {
      peakBytes = Math.max(peakBytes, service.residentBytes());
    }, 1000);
    const attackers = Array.from({ length: HOSTILE_CLIENTS }, (_, number) =>
      attack({ service, origin, address: `198.51.100.${number + 1}`, signal: over.signal }),
    );
    const clients = Array.from({ length: GOOD_CLIENTS }, goodClient);
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
    clearInterval(killing);
    over.abort();
    await Promise.all([...clients, ...attackers]);
    clearInterval(watching);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const after = await atRest(service, data);

    const sum = (map: ReadonlyMap<string, number>) => [...map.values()].reduce((total, each) => total + each, 0);
    const details = { ...tally, lost: [...tally.lost], wrong: [...tally.wrong], before, after };
    process.stderr.write(`${JSON.stringify(details)}\n`);
    const what = (text: string) => `campaign of ${SECONDS} s: ${text}`;
    const alone = { rival: Number.NaN, rivalName: '', unit: '' };
    yield { what: what('good requests answered'), ours: tally.done, ...alone, atLeast: 1 };
    yield { what: what('good requests repeated'), ours: tally.repeated, ...alone };
    yield { what: what('processes killed or stopped'), ours: tally.kills, ...alone };
    yield { what: what('good requests lost'), ours: sum(tally.lost), ...alone, atMost: 0 };
    yield { what: what('answers with wrong bytes'), ours: sum(tally.wrong), ...alone, atMost: 0 };
    yield { what: what('memory at most'), ours: peakBytes / 1e6, ...alone, unit: 'MB' };
    const resident = { ours: service.residentBytes() / 1e6, rival: residentBefore / 1e6, rivalName: 'before' };
    yield { what: what('memory after it'), ...resident, unit: 'MB', atMost: 1.5 };
    for (const kind of ['processes', 'sockets', 'files'] as const)
      yield { what: what(`${kind} left`), ours: after[kind] - before[kind], ...alone, atMost: 0 };
  } finally {
    await service.close();
    await origin.close();
    await rm(data, { recursive: true, force: true });
  }
};

/** Another link in each turn has to be resolved; the keys of the others stay. */
function tasksOf(service: Server, origin: Origin): readonly Task[] {
  const fresh = (path: string) => (address: string, turn: number) =>
    streamPath(service, origin.url(`${path}?${address}-${turn}`), address);
  const suffixed = (suffix: string) => async (address: string, turn: number) =>
    (await fresh('/files/clip.mp4')(address, turn)) + suffix;
  return [
    { name: 'file', path: fresh('/files/clip.mp4') },
    { name: 'range', path: fresh('/files/long.mp4'), headers: { range: 'bytes=100000-900000' } },
    { name: 'mp3', path: suffixed('?format=mp3') },
    { name: 'pair', path: (address, turn) => streamPath(service, origin.url(`/site/open/${turn % 20}`), address) },
    {
      name: 'hls',
      path: (address, turn) => streamPath(service, origin.url(`/ordinary/good-${address}-${turn}.m3u8`), address),
    },
  ];
}

/** @throws RequestFailed, and Error when the connection breaks */
async function digestOf(service: Server, task: Task, address: string, turn: number): Promise<string> {
  const path = await task.path(address, turn);
  const headers = { ...from(address), ...task.headers };
  const { statusCode, body } = await request(service.baseUrl + path, { headers });
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  if (statusCode !== 200 && statusCode !== 206) throw new RequestFailed(`${statusCode} for a stream`);
  return hash.digest('hex');
}

async function withAttempts<T>(work: () => Promise<T>, onRetry: () => void): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      onRetry();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** @returns false when the process has ended, or is not one of the service any more */
function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    readFileSync(`/proc/${pid}/stat`);
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
