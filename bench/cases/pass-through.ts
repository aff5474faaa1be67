import type { Bench, Case } from '../bench.ts';
import { takeTogether } from '../clients.ts';
import { inTurn, median, seconds } from '../figures.ts';
import type { Server } from '../processes.ts';

const RUNS = 7;
/** Clients at once, and how often each run asks, so that a run is long enough to time. */
const LOADS = [
  { clients: 1, file: 'video.mp4' },
  { clients: 10, file: 'video.mp4' },
  { clients: 50, file: 'clip.mp4' },
] as const;

/** Whole files through the service, nginx and the bare pipe, from the same origin. */
export const passThrough: Case = async function* (bench) {
  const { origin, sizes } = bench;
  for (const { clients, file } of LOADS) {
    const name = `pass-${file}`;
    const bytes = sizes[file] ?? 0;
    await origin.publish(name, [{ id: 'file', path: `/media/${file}`, vcodec: 'avc1', acodec: 'none', bytes }], 20);
    const ours = await bench.stream(name);
    for (const rival of ['nginx', 'barePipe'] as const) {
      yield* against(bench, ours, rival, { file, clients, bytes });
    }
  }
};

async function* against(
  { service, ...bench }: Bench,
  url: string,
  rivalName: 'nginx' | 'barePipe',
  { file, clients, bytes }: { file: string; clients: number; bytes: number },
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
    () => throughput(rival, `${rival.baseUrl}/media/${file}`, cpu.rival),
  );
  const what = `pass-through, ${clients} client${clients > 1 ? 's' : ''}`;
  yield { what, ...figures, rivalName, unit: 'MB/s', atLeast: rivalName === 'nginx' ? 1.2 : 0.9 };
  yield { what: `${what}, CPU`, ours: median(cpu.ours), rival: median(cpu.rival), rivalName, unit: 's/GB' };
}
