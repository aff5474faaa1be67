import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOSTILE_LINKS, serveHostileLinks } from '../../test/attacks/hostile-links.ts';
import { type Origin, startOrigin } from '../../test/origin/server.ts';
import { atRest, leftFigures } from '../at-rest.ts';
import { type StandaloneCase, startReelay } from '../bench.ts';
import { resolveLink, streamOf } from '../clients.ts';
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

/** What a good client requests. */
interface Task {
  readonly name: string;
  readonly url: (address: string, turn: number) => Promise<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Well-behaved clients, hostile clients and killed processes together: no request is lost, no byte is wrong, no
 * resource leaks.
 */
export const campaign: StandaloneCase = async function* () {
  const origin = await startMixedOrigin();
  const service = await startReelay(origin.host, { TRUSTED_PROXIES: '1', MAX_STREAMS_PER_CLIENT: '16' });
  try {
    const tasks = tasksOf(service, origin);
    const expected = new Map<string, string>();
    for (const task of tasks) expected.set(task.name, await digestOf(task, '192.0.2.1', 0));
    const before = await atRest(service);
    const residentBefore = service.residentBytes();

    const tally = { done: 0, repeated: 0, lost: new Map<string, number>(), wrong: new Map<string, number>(), kills: 0 };
    const count = (map: Map<string, number>, name: string) => map.set(name, (map.get(name) ?? 0) + 1);
    const over = new AbortController();
    const goodClient = async (_: unknown, number: number) => {
      const address = `192.0.2.${number + 1}`;
      for (let turn = number; !over.signal.aborted; turn += 1) {
        const task = tasks[turn % tasks.length] as Task;
        const digest = await withAttempts(
          () => digestOf(task, address, turn),
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
    await sleep(SECONDS * 1000);
    clearInterval(killing);
    over.abort();
    await Promise.all([...clients, ...attackers]);
    clearInterval(watching);
    await sleep(SETTLE_MS);
    const after = await atRest(service);

    const sum = (map: ReadonlyMap<string, number>) => [...map.values()].reduce((total, each) => total + each, 0);
    const details = { ...tally, lost: [...tally.lost], wrong: [...tally.wrong], before, after };
    process.stderr.write(`${JSON.stringify(details)}\n`);
    const name = `campaign of ${SECONDS} s`;
    const what = (text: string) => `${name}: ${text}`;
    yield { what: what('good requests answered'), ours: tally.done, atLeast: 1 };
    yield { what: what('good requests repeated'), ours: tally.repeated };
    yield { what: what('processes killed or stopped'), ours: tally.kills };
    yield { what: what('good requests lost'), ours: sum(tally.lost), atMost: 0 };
    yield { what: what('answers with wrong bytes'), ours: sum(tally.wrong), atMost: 0 };
    yield { what: what('memory at most'), ours: peakBytes / 1e6, unit: 'MB' };
    const resident = { ours: service.residentBytes() / 1e6, rival: residentBefore / 1e6, rivalName: 'before' };
    yield { what: what('memory after it'), ...resident, unit: 'MB', atMost: 1.5 };
    yield* leftFigures(name, before, after);
  } finally {
    await service.close();
    await origin.close();
  }
};

/** Another link in each turn has to be resolved; the keys of the others stay. */
function tasksOf(service: Server, origin: Origin): readonly Task[] {
  const urlOf = (path: string, address: string) => streamOf(service, origin.url(path), { headers: from(address) });
  const fresh = (path: string) => (address: string, turn: number) => urlOf(`${path}?${address}-${turn}`, address);
  const suffixed = (suffix: string) => async (address: string, turn: number) =>
    (await fresh('/files/clip.mp4')(address, turn)) + suffix;
  return [
    { name: 'file', url: fresh('/files/clip.mp4') },
    { name: 'range', url: fresh('/files/long.mp4'), headers: { range: 'bytes=100000-900000' } },
    { name: 'mp3', url: suffixed('?format=mp3') },
    { name: 'pair', url: (address, turn) => urlOf(`/site/open/${turn % 20}`, address) },
    { name: 'hls', url: (address, turn) => urlOf(`/ordinary/good-${address}-${turn}.m3u8`, address) },
  ];
}

/** @throws unless the whole stream is sent */
async function digestOf(task: Task, address: string, turn: number): Promise<string> {
  const { ok, status, body } = await fetch(await task.url(address, turn), {
    headers: { ...from(address), ...task.headers },
  });
  const hash = createHash('sha256');
  for await (const chunk of body ?? []) hash.update(chunk);
  if (!ok) throw new Error(`${status} for a stream`);
  return hash.digest('hex');
}

async function withAttempts<T>(work: () => Promise<T>, onRetry: () => void): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      onRetry();
      await sleep(RETRY_MS);
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

/** An origin with ordinary media and the corpus of hostile sources. */
async function startMixedOrigin(): Promise<Origin> {
  return startOrigin({
    mounts: {
      '/hostile/': serveHostileLinks(),
      // The same playlist under any name: each is another link.
      '/ordinary/': async ({ response, mediaDir }) => {
        const playlist = await readFile(join(mediaDir, 'hls/ts/index.m3u8'), 'utf8');
        response.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' });
        response.end(playlist.replace(/^(\d+\.ts)/gm, '/hls/ts/$1'));
      },
    },
  });
}

/** Headers of a client at an address, for a service with TRUSTED_PROXIES=1. */
const from = (address: string) => ({ 'x-forwarded-for': address });

interface AttackOptions {
  readonly service: Server;
  readonly origin: Origin;
  readonly address: string;
  readonly signal: AbortSignal;
}

const CONCURRENT_LINKS = 24;
const UNREAD_STREAMS = 6;

/** One hostile client: links of the corpus side by side, some of them reset, and streams that it does not read. */
async function attack(options: AttackOptions): Promise<void> {
  const { service, origin, address, signal } = options;
  const headers = from(address);
  let turn = 0;
  const resolveHostile = async () => {
    while (!signal.aborted) {
      const { name } = HOSTILE_LINKS[turn++ % HOSTILE_LINKS.length] ?? { name: '' };
      const link = origin.url(`/hostile/${name}?${turn}`);
      const isReset = turn % 3 === 0;
      const ended = isReset ? AbortSignal.any([signal, AbortSignal.timeout(200)]) : signal;
      await resolveLink(service, link, { headers, signal: ended }).catch(() => undefined);
      // A refusal is immediate: without a pause this would measure how fast refusals are.
      await sleep(50);
    }
  };
  const holdStream = async () => {
    while (!signal.aborted) {
      try {
        const link = origin.url(`/ordinary/${address}-${turn++}.m3u8`);
        const { body } = await fetch(await streamOf(service, link, { headers, signal }), { headers, signal });
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        await body?.cancel();
      } catch {
        await sleep(200);
      }
    }
  };
  await Promise.all([
    ...Array.from({ length: CONCURRENT_LINKS }, resolveHostile),
    ...Array.from({ length: UNREAD_STREAMS }, holdStream),
  ]);
}
