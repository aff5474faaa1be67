import type { Bench, Case } from '../bench.ts';
import { measureLoad } from '../clients.ts';
import { type Figure, inTurn, median } from '../figures.ts';
import type { Server } from '../processes.ts';

const RUNS = 7;
/** Clients at once, and how often each run asks, so that a run is long enough to time. */
const LOADS: readonly Load[] = [
  { clients: 1, file: 'video.mp4' },
  { clients: 10, file: 'video.mp4' },
  { clients: 50, file: 'clip.mp4' },
  { clients: 1, file: 'video.mp4', isSecure: true },
  { clients: 10, file: 'video.mp4', isSecure: true },
];
/** The goal is against the better tuned one. Neither rival continues a download that its source interrupts. */
const RIVALS = {
  tunedNginx: 'nginx, 256 KiB buffers',
  haproxy: 'HAProxy, splicing',
  nginx: 'nginx, unbuffered',
  barePipe: 'a bare undici pipe',
  mediaflow: 'mediaflow-proxy',
} as const;
const PROXIES: ReadonlySet<string> = new Set<RivalName>(['tunedNginx', 'haproxy', 'nginx']);
const TUNED: ReadonlySet<string> = new Set<RivalName>(['tunedNginx', 'haproxy']);
const MIN_RATIO = 0.9;
const MAX_CPU_RATIO = 1.3;

type RivalName = keyof typeof RIVALS;

interface Load {
  readonly clients: number;
  readonly file: string;
  /** By TLS from the origin, as nearly all sources are. */
  readonly isSecure?: true;
}

/** Whole files through the service and its rivals, in turn, from the same origin. */
export const passThrough: Case = async function* (bench) {
  const { origin, sizes } = bench;
  for (const load of LOADS) {
    const { file, isSecure } = load;
    const name = `pass-${isSecure ? 'secure-' : ''}${file}`;
    const folder = isSecure && `${origin.secure.baseUrl}/media/`;
    await origin.publish(name, [{ file, holds: 'video', folder }], 20);
    yield* compare(bench, await bench.stream(name), { ...load, bytes: sizes[file] });
  }
};

/** Throughput in MB/s and CPU in s/GB, one value per run. */
interface Runs {
  readonly throughput: number[];
  readonly cpu: number[];
}

async function* compare(
  bench: Bench,
  url: string,
  { file, clients, bytes, isSecure }: Load & { readonly bytes: number | undefined },
): AsyncIterable<Figure> {
  const measure = async (server: Server, from: string, { throughput, cpu }: Runs) => {
    const measured = await measureLoad(server, from, clients);
    if (measured.bytes / clients !== bytes)
      throw new Error(`${measured.bytes} bytes of ${clients} clients from ${from}`);
    cpu.push(measured.cpu);
    throughput.push(measured.speed);
  };
  // The others have no https upstream that they trust.
  const names = (Object.keys(RIVALS) as RivalName[]).filter((name) => !isSecure || PROXIES.has(name));
  const ours: Runs = { throughput: [], cpu: [] };
  const rivals = new Map(names.map((name) => [name, { throughput: [], cpu: [] } as Runs]));
  for (let run = 0; run < RUNS; run += 1) {
    await measure(bench.service, url, ours);
    for (const [name, runs] of rivals) {
      const path = `/media/${file}`;
      const proxied = `/proxy/stream?${new URLSearchParams({ d: `${bench.origin.baseUrl}${path}` })}`;
      const rivalPath = name === 'mediaflow' ? proxied : `${isSecure ? '/secure' : ''}${path}`;
      await measure(bench[name], `${bench[name].baseUrl}${rivalPath}`, runs);
    }
  }

  const speedOf = (runs: Runs) => median(runs.throughput);
  const [best] = [...rivals].filter(([name]) => TUNED.has(name)).sort(([, a], [, b]) => speedOf(b) - speedOf(a));
  const what = `pass-through${isSecure ? ' of https' : ''}, ${clients} client${clients > 1 ? 's' : ''}`;
  for (const [name, runs] of rivals) {
    const isGoal = name === best?.[0];
    const rivalName = RIVALS[name];
    const [speeds, cpu] = [
      { ours: speedOf(ours), rival: speedOf(runs) },
      { ours: median(ours.cpu), rival: median(runs.cpu) },
    ];
    yield { what, ...speeds, rivalName, unit: 'MB/s', ...(isGoal && { atLeast: MIN_RATIO }) };
    yield { what: `${what}, CPU`, ...cpu, rivalName, unit: 's/GB', ...(isGoal && { atMost: MAX_CPU_RATIO }) };
  }
}

/** A source that gives each connection 4 MB/s. */
export const throttled: Case = async function* ({ origin, service, nginx, stream }) {
  await origin.publish('throttled', [{ file: 'hour.m4a', holds: 'audio', folder: '/slow/' }], 3600);
  const url = await stream('throttled');
  const figures = await inTurn(
    3,
    async () => (await measureLoad(service, url)).speed,
    async () => (await measureLoad(nginx, `${nginx.baseUrl}/slow/hour.m4a`)).speed,
  );
  yield { what: 'a source throttled to 4 MB/s a connection', ...figures, rivalName: 'nginx', unit: 'MB/s', atLeast: 3 };
};
