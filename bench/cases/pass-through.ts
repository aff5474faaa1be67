import type { Bench, Case } from '../bench.ts';
import { measureLoad } from '../clients.ts';
import { type Figure, median, unlessShort } from '../figures.ts';
import { makeMedia } from '../media.ts';
import type { Server } from '../processes.ts';
import type { RivalName } from '../rivals.ts';

const RUNS = unlessShort(7);
/** Clients at once, and the file that each of them takes. */
const LOADS = [
  [1, 'video.mp4'],
  [10, 'video.mp4'],
  [50, 'clip.mp4'],
] as const;
const MIN_RATIO = 0.9;
const MAX_CPU_RATIO = 1.3;
/** The goal is against the better one of these. */
const TUNED: readonly RivalName[] = ['nginx', 'haproxy'];

/** Whole files through the service and its rivals, in turn, from the same origin. */
export const passThrough: Case = async function* (bench) {
  for (const [clients, file] of LOADS)
    yield* compare(bench, file, clients, [...TUNED, 'rclone', 'mediaflow'], 'pass-through');
};

/** The same by TLS from the origin, as nearly all sources are; the other rivals do not trust its certificate. */
export const https: Case = async function* (bench) {
  for (const [clients, file] of LOADS.slice(0, 2)) yield* compare(bench, file, clients, TUNED, 'pass-through of https');
};

/** Throughput in MB/s and CPU in s/GB, one value per run. */
interface Runs {
  readonly throughput: number[];
  readonly cpu: number[];
}

async function* compare(
  bench: Bench,
  file: string,
  clients: number,
  names: readonly RivalName[],
  kind: 'pass-through' | 'pass-through of https',
): AsyncIterable<Figure> {
  const { origin, service } = bench;
  const isSecure = kind !== 'pass-through';
  const item = `${isSecure ? 'https' : 'http'}-${file}`;
  const folder = isSecure ? `${origin.secure.baseUrl}/media/` : '/media/';
  await origin.publish(item, [{ file, holds: 'video', folder }], 20);
  const url = await bench.stream(item);
  const size = await makeMedia(file);

  const measure = async (server: Server, from: string, { throughput, cpu }: Runs) => {
    const measured = await measureLoad(server, from, clients);
    if (measured.bytes !== size * clients)
      throw new Error(`${measured.bytes} bytes of ${clients} clients from ${from}`);
    cpu.push(measured.cpu);
    throughput.push(measured.speed);
  };
  const started = await Promise.all(names.map((name) => bench.rival(name)));
  const rivals = started.flatMap((rival, index) =>
    rival ? [{ ...rival, isTuned: TUNED.includes(names[index] as RivalName), throughput: [], cpu: [] }] : [],
  );
  const ours: Runs = { throughput: [], cpu: [] };
  for (let run = 0; run < RUNS; run += 1) {
    await measure(service, url, ours);
    for (const rival of rivals) await measure(rival, rival.urlOf(`${isSecure ? '/secure' : ''}/media/${file}`), rival);
  }

  const [best] = rivals.filter(({ isTuned }) => isTuned).sort((a, b) => median(b.throughput) - median(a.throughput));
  const what = `${kind}, ${clients} client${clients > 1 ? 's' : ''}`;
  for (const rival of rivals) {
    const isGoal = rival === best;
    const speeds = { ours: median(ours.throughput), rival: median(rival.throughput), unit: 'MB/s' };
    const cpu = { ours: median(ours.cpu), rival: median(rival.cpu), unit: 's/GB' };
    yield { what, ...speeds, rivalName: rival.title, ...(isGoal && { atLeast: MIN_RATIO }) };
    yield { what: `${what}, CPU`, ...cpu, rivalName: rival.title, ...(isGoal && { atMost: MAX_CPU_RATIO }) };
  }
}
