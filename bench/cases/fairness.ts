import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readSettings } from '../../core/config/settings.ts';
import { freePort } from '../../test/support/free-port.ts';
import { keptIn, type StandaloneCase, startReelay } from '../bench.ts';
import { ATTACKS } from '../fairness/attacks.ts';
import { busySeconds, divideCores, moveTo } from '../fairness/cores.ts';
import { rawGet, resolvedPath } from '../fairness/raw-request.ts';
import { median, seconds } from '../figures.ts';
import { MEDIA_DIR, makeMedia } from '../media.ts';
import { type Server, startNginx, startServer } from '../processes.ts';

/** Parts of the names of attacks, separated by commas. @default all attacks */
const WANTED = (process.env.FAIRNESS_ATTACKS ?? '').split(',').map((name) => name.trim());
const ROUNDS = Number(process.env.FAIRNESS_ROUNDS ?? 4);
/** Requests in each phase. */
const REQUESTS = 5;
const FILE = 'both.mp4';
const GOOD = '127.0.0.10';
const HOSTILE = '127.0.0.20';
/** Until the hostile client has reached its limits. */
const WARM_UP_MS = 2_000;
/** Until what it has left behind has ended. */
const COOL_DOWN_MS = 1_000;
/** Limits of one client: other cases raise them. */
const { maxStreamsPerClient, maxRequestsPerClient } = readSettings({});
const DEFAULT_LIMITS = {
  MAX_STREAMS_PER_CLIENT: String(maxStreamsPerClient),
  MAX_REQUESTS_PER_CLIENT: String(maxRequestsPerClient),
};

const KINDS = ['resolve', 'stream'] as const;
/** Seconds of single requests. */
type Times = Record<(typeof KINDS)[number], readonly number[]>;

/** Requests of the good client. */
interface Phase {
  readonly times: Times;
  /** Share of the phase in which other programs used the core of the service. */
  readonly othersShare: number;
}

/**
 * One hostile client beside a good one: phases with and without it alternate, so that the machine's speed affects both.
 *
 * The service and its children have a core of their own, so that clients take none of its time. The hostile client and its
 * origins run on the other cores while nothing else does (SCHED_IDLE), so that they take none from the good client and its
 * origin. Where
 * programs that do not belong to the measurement use the core of the service, their share of each phase is deducted.
 */
export const fairness: StandaloneCase = async function* () {
  await makeMedia(['clip.mp4', 'video.mp4', 'audio.m4a', FILE, 'hour.m4a']);
  const parts = await startParts();
  try {
    const wanted = Object.keys(ATTACKS).filter((name) => WANTED.some((part) => name.includes(part)));
    await parts.measure();
    for (const name of wanted) {
      const rounds: (Record<'alone' | 'beside', Phase> & Record<'before' | 'after', object>)[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const alone = await parts.measure();
        const attack = await parts.startAttack(name);
        const before = await achieved(attack);
        const beside = await parts.measure();
        rounds.push({ alone, beside, before, after: await achieved(attack) });
        await attack.close();
        await pause(COOL_DOWN_MS);
      }
      process.stderr.write(`${name}: ${JSON.stringify(rounds, shorten)}\n`);
      const timesOf = (phase: 'alone' | 'beside', kind: (typeof KINDS)[number]) =>
        median(
          rounds.flatMap(({ [phase]: { times, othersShare } }) =>
            times[kind].map((each) => each * (1 - othersShare) * 1000),
          ),
        );
      for (const kind of KINDS) {
        const figures = { ours: timesOf('beside', kind), rival: timesOf('alone', kind) };
        yield { what: `${kind} beside ${name}`, ...figures, rivalName: 'alone', unit: 'ms', atMost: 2 };
      }
    }
  } finally {
    await parts.close();
  }
};

/** The service, and everything around it on other cores. */
async function startParts() {
  const cores = divideCores();
  await using started = new AsyncDisposableStack();
  started.defer(moveTo(cores.clients));
  const keep = keptIn(started);
  const files = `root ${MEDIA_DIR};`;
  const media = keep(await startNginx(files));
  const hostileMedia = keep(await startNginx(files));
  for (const pid of hostileMedia.descendants()) execFileSync('chrt', ['--idle', '--pid', '0', String(pid)]);
  const attackPort = await freePort();
  // A process runs on the cores of the one that starts it.
  moveTo(cores.service);
  const hosts = `${media.host},${hostileMedia.host},127.0.0.1:${attackPort}`;
  const service = keep(await startReelay(hosts, DEFAULT_LIMITS));
  moveTo(cores.clients);
  const client = await createGoodClient(service, media);

  const measure = async (): Promise<Phase> => {
    const before = [service.cpuSeconds(), busySeconds(cores.service)] as const;
    const start = performance.now();
    const times = await client.request();
    const elapsed = (performance.now() - start) / 1000;
    const used = service.cpuSeconds() - before[0];
    return {
      times,
      othersShare: Math.max(0, busySeconds(cores.service) - before[1] - used) / elapsed,
    };
  };
  const running = started.move();
  const startAttack = async (name: string): Promise<Server> => {
    const program = resolve(import.meta.dirname, '../fairness/attack-process.ts');
    const args = [program, name, String(attackPort), service.host, hostileMedia.host, HOSTILE];
    const attack = await startServer('chrt', ['--idle', '0', process.execPath, ...args], { port: attackPort });
    running.defer(attack.close);
    await begun(attack);
    await pause(WARM_UP_MS);
    return attack;
  };
  return { measure, startAttack, close: () => running.disposeAsync() };
}

/** Resolves new links, and streams a file of 150 MB. */
async function createGoodClient(service: Server, media: Server) {
  let links = 0;
  const resolveNext = (file: string) =>
    resolvedPath(service.host, `http://${media.host}/${file}?${links++}`, { from: GOOD });
  const stream = await resolveNext(FILE);
  return {
    async request(): Promise<Times> {
      const times = { resolve: [] as number[], stream: [] as number[] };
      for (let count = 0; count < REQUESTS; count += 1) {
        times.resolve.push(await seconds(() => resolveNext('clip.mp4')));
        times.stream.push(
          await seconds(async () => {
            const { status } = await rawGet(service.host, stream, { from: GOOD });
            if (status !== 200) throw new Error(`The good client got ${status}`);
          }),
        );
      }
      return times;
    },
  };
}

const shorten = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(3)) : value);

/** Waits until the hostile client has achieved something. @throws Error when it does not */
async function begun(attack: Server): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (Object.keys(await achieved(attack)).length > 0) return;
    await pause(100);
  }
  throw new Error('The attack has not begun');
}

/** What the hostile client has achieved so far. */
const achieved = async ({ baseUrl }: Server) => (await (await fetch(baseUrl)).json()) as Record<string, number>;
