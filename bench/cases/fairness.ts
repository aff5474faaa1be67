import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import { type Case, startReelay } from '../bench.ts';
import { request, resolveLink, streamOf } from '../clients.ts';
import { median, seconds, unlessShort } from '../figures.ts';
import { MEDIA_DIR, makeMedia } from '../media.ts';
import { type Server, startNginx, startServer } from '../processes.ts';

/** What the hostile client does, by its name in `hostile-client.ts`. */
const ATTACKS = [
  'flood of /api/App',
  'conversions to MP3',
  'ranges of one byte of an MP3',
  'streams at full speed',
  'slow pages',
  'reset requests',
  'hostile manifests',
];
const ROUNDS = unlessShort(4);
/** Requests in each phase. */
const REQUESTS = unlessShort(5);
const GOOD = '127.0.0.10';
const HOSTILE = '127.0.0.20';
/** Until the hostile client has reached its limits. */
const WARM_UP_MS = 2_000;
/** Until what it has left behind has ended. */
const COOL_DOWN_MS = 1_000;
const MAX_RATIO = 2;

const KINDS = ['resolve', 'stream'] as const;
/** Milliseconds of single requests. */
type Times = Record<(typeof KINDS)[number], number[]>;

/** The service and its children have a core of their own, where there is more than one. */
const ON_SERVICE_CORE = ['taskset', '-c', '0'];
const OTHER_CORES = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : '0';
/** The hostile client and its origins run while nothing else does, so that they take no time from the good client. */
const WHEN_IDLE = ['chrt', '--idle', '0'];

/**
 * One hostile client beside a good one: phases with and without it alternate, so that the machine's speed affects both. The
 * service has a core of its own, so that clients take none of its time.
 */
export const fairness: Case = async function* () {
  for (const file of ['clip.mp4', 'both.mp4', 'hour.m4a']) await makeMedia(file);
  await using started = new AsyncDisposableStack();
  const keep = (server: Server) => {
    started.defer(server.close);
    return server;
  };
  // Programs that this process starts run there, too. No case follows that needs all cores.
  execFileSync('taskset', ['--all-tasks', '-cp', OTHER_CORES, String(process.pid)]);
  const files = `root ${MEDIA_DIR};`;
  const media = keep(await startNginx(files));
  const hostileMedia = keep(await startNginx(files, { launcher: WHEN_IDLE }));
  const attackPort = await freePort();
  // The limits of one client that it has by default.
  const limits = { MAX_STREAMS_PER_CLIENT: undefined, MAX_REQUESTS_PER_CLIENT: undefined };
  const hosts = `${media.host},${hostileMedia.host},127.0.0.1:${attackPort}`;
  const service = keep(await startReelay(hosts, limits, ON_SERVICE_CORE));
  const client = await createGoodClient(service, media);

  const measure = async (times: Times) => {
    for (let count = 0; count < REQUESTS; count += 1)
      for (const kind of KINDS) times[kind].push((await seconds(client[kind])) * 1000);
  };
  await measure({ resolve: [], stream: [] });
  for (const name of ATTACKS) {
    const alone: Times = { resolve: [], stream: [] };
    const beside: Times = { resolve: [], stream: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      await measure(alone);
      const program = resolve(import.meta.dirname, 'hostile-client.ts');
      const args = [program, name, String(attackPort), service.baseUrl, hostileMedia.baseUrl, HOSTILE];
      const attack = await startServer([...WHEN_IDLE, process.execPath, ...args], { port: attackPort });
      try {
        await begun(attack);
        await pause(WARM_UP_MS);
        await measure(beside);
      } finally {
        await attack.close();
      }
      await pause(COOL_DOWN_MS);
    }
    for (const kind of KINDS) {
      const figures = { ours: median(beside[kind]), rival: median(alone[kind]) };
      yield { what: `${kind} beside ${name}`, ...figures, rivalName: 'alone', unit: 'ms', atMost: MAX_RATIO };
    }
  }
};

/** Resolves new links, and streams a file of 150 MB. */
async function createGoodClient(service: Server, media: Server) {
  const from = { localAddress: GOOD };
  let links = 0;
  const url = await streamOf(service, `${media.baseUrl}/both.mp4`, from);
  return {
    resolve: () => resolveLink(service, `${media.baseUrl}/clip.mp4?${links++}`, from),
    async stream() {
      const response = await request(url, from);
      for await (const _ of response);
      if (response.statusCode !== 200) throw new Error(`The good client got ${response.statusCode}`);
    },
  };
}

/** Waits until the hostile client has achieved something. @throws Error when it does not */
async function begun({ baseUrl }: Server): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if ((await (await fetch(baseUrl)).text()) !== '0') return;
    await pause(100);
  }
  throw new Error('The attack has not begun');
}
