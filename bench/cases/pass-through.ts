import type { Bench, Case } from '../bench.ts';
import { takeTogether } from '../clients.ts';
import { inTurn, median, seconds } from '../figures.ts';
import type { Server } from '../processes.ts';

const RUNS = 7;
/** Clients at once, and how often each run asks, so that a run is long enough to time. */
const LOADS: readonly Load[] = [
  { clients: 1, file: 'video.mp4', rivals: ['nginx', 'barePipe'] },
  { clients: 10, file: 'video.mp4', rivals: ['nginx', 'barePipe'] },
  { clients: 50, file: 'clip.mp4', rivals: ['nginx', 'barePipe'] },
  { clients: 1, file: 'video.mp4', rivals: ['nginx'], isSecure: true },
  { clients: 10, file: 'video.mp4', rivals: ['nginx'], isSecure: true },
];

interface Load {
  readonly clients: number;
  readonly file: string;
  readonly rivals: readonly ('nginx' | 'barePipe')[];
  /** By TLS from the origin, as nearly all sources are. */
  readonly isSecure?: true;
}

/** Whole files through the service, nginx and the bare pipe, from the same origin. */
export const passThrough: Case = async function* (bench) {
  const { origin, sizes } = bench;
  for (const { rivals, ...load } of LOADS) {
    const { file, isSecure } = load;
    const name = `pass-${isSecure ? 'secure-' : ''}${file}`;
    const bytes = sizes[file] ?? 0;
    const path = `${isSecure ? origin.secure.baseUrl : ''}/media/${file}`;
    await origin.publish(name, [{ id: 'file', path, vcodec: 'avc1', acodec: 'none', bytes }], 20);
    const ours = await bench.stream(name);
    for (const rival of rivals) yield* against(bench, ours, rival, { ...load, bytes });
  }
};

async function* against(
  { service, ...bench }: Bench,
  url: string,
  rivalName: Load['rivals'][number],
  { file, clients, bytes, isSecure }: Omit<Load, 'rivals'> & { readonly bytes: number },
) {
  const rival = bench[rivalName];
  const cpu = { ours: [] as number[], rival: [] as number[] };
  const throughput = async (server: Server, from: string, spent: number[]) => {
    const before = server.cpuSeconds();
    const elapsed = await seconds(async () => {
      const taken = await takeTogether(from, clients);
      if (taken !== bytes * clients) throw new Error(`${taken} bytes of ${bytes * clients} from ${from}`);
    });
    spent.push((server.cpuSeconds() - before) / ((bytes * clients) / 1e9));
    return (bytes * clients) / 1e6 / elapsed;
  };
  const figures = await inTurn(
    RUNS,
    () => throughput(service, url, cpu.ours),
    () => throughput(rival, `${rival.baseUrl}${isSecure ? '/secure' : ''}/media/${file}`, cpu.rival),
  );
  const what = `pass-through${isSecure ? ' of https' : ''}, ${clients} client${clients > 1 ? 's' : ''}`;
  const goal = isSecure ? {} : { atLeast: rivalName === 'nginx' ? 1.2 : 0.9 };
  yield { what, ...figures, rivalName, unit: 'MB/s', ...goal };
  yield { what: `${what}, CPU`, ours: median(cpu.ours), rival: median(cpu.rival), rivalName, unit: 's/GB' };
}
