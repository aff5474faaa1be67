import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Case } from '../bench.ts';
import { firstByteMs, measureLoad, take } from '../clients.ts';
import { type Figure, inTurn, median, seconds, unlessShort } from '../figures.ts';
import { pairOf } from '../origin.ts';
import { runFfmpeg } from '../rivals.ts';

const RUNS = unlessShort(5);
const LONG_RUNS = unlessShort(3);

/** The files of a pair. The same tracks in one file are `both.mp4`. */
interface Pair {
  readonly form: string;
  readonly video: string;
  readonly audio: string;
}
const PROGRESSIVE: Pair = { form: 'progressive', video: 'video.mp4', audio: 'audio.m4a' };
const PAIRS: readonly Pair[] = [{ form: 'fragmented', video: 'indexed.mp4', audio: 'indexed.m4a' }, PROGRESSIVE];
/** Starts the names of the same files of one hour; the others have a minute. */
const HOUR = 'hour-';

/** The seekable file of a pair beside the same tracks in one file, and beside what a user would do without it. */
export const pair: Case = async function* (bench) {
  for (const one of PAIRS) {
    const urls = await publish(bench, one, '');
    for (const clients of [1, 10]) yield* throughput(bench, urls, one, clients);
  }
  for (const one of PAIRS) yield* firstBytes(bench, one);
  yield await pictureFromPair(bench);
};

interface Urls {
  readonly ours: string;
  /** The one file, through the service too. */
  readonly direct: string;
}

async function publish(
  { origin, stream }: Bench,
  { video, audio }: Pair,
  length: '' | typeof HOUR,
  suffix = '',
): Promise<Urls> {
  const name = `${length}${video}${suffix}`;
  const durationSeconds = length === HOUR ? 3600 : 60;
  await origin.publish(`pair-${name}`, pairOf(length + video, length + audio), durationSeconds);
  await origin.publish(`one-${name}`, [{ file: `${length}both.mp4`, holds: 'both' }], durationSeconds);
  return { ours: (await stream(`pair-${name}`)).replace('/Combined/', '/Media/'), direct: await stream(`one-${name}`) };
}

async function* throughput(
  { service }: Bench,
  { ours, direct }: Urls,
  { form }: Pair,
  clients: number,
): AsyncGenerator<Figure> {
  const cpu = { ours: [] as number[], rival: [] as number[] };
  const speed = async (url: string, spent: number[]) => {
    const measured = await measureLoad(service, url, clients);
    spent.push(measured.cpu);
    return measured.speed;
  };
  const figures = await inTurn(
    clients > 1 ? LONG_RUNS : RUNS,
    () => speed(ours, cpu.ours),
    () => speed(direct, cpu.rival),
  );
  const what = `${form} pair, ${clients} client${clients > 1 ? 's' : ''}`;
  yield { what, ...figures, rivalName: 'one file', unit: 'MB/s', atLeast: 0.8 };
  const medians = { ours: median(cpu.ours), rival: median(cpu.rival) };
  yield { what: `${what}, CPU`, ...medians, rivalName: 'one file', unit: 's/GB' };
}

async function* firstBytes(bench: Bench, one: Pair): AsyncGenerator<Figure> {
  const { ours, direct } = await publish(bench, one, HOUR);
  // Other keys of the same files: their layouts are not known.
  const fresh: Urls[] = [];
  for (let count = 0; count < RUNS; count += 1) fresh.push(await publish(bench, one, HOUR, `-${count}`));
  const cold = { ours: fresh.map((urls) => urls.ours), direct: fresh.map((urls) => urls.direct) };
  const seek = async (url: string) => {
    const { headers } = await fetch(url, { method: 'HEAD' });
    const offset = Math.floor(Number(headers.get('content-length')) * 0.9);
    return firstByteMs(url, { range: `bytes=${offset}-` });
  };
  const compare = async (what: string, first: (url: 'ours' | 'direct') => Promise<number>, atMost?: number) => {
    const figures = await inTurn(
      RUNS,
      () => first('ours'),
      () => first('direct'),
    );
    return { what: `${one.form} hour, ${what}`, ...figures, rivalName: 'one file', unit: 'ms', atMost };
  };
  const known = { ours, direct };
  yield await compare('first byte, unknown layout', (which) => firstByteMs(cold[which].shift() ?? ''));
  await firstByteMs(ours); // makes its layout known
  yield await compare('first byte', (which) => firstByteMs(known[which]), 2);
  yield await compare('first byte at 90 %', (which) => seek(known[which]), 2);
}

/** Beside what a user does who has two files: download both, mux them, and seek then. */
async function pictureFromPair(bench: Bench): Promise<Figure> {
  const { ours } = await publish(bench, PROGRESSIVE, HOUR);
  const folder = await mkdtemp(join(tmpdir(), 'bench-pair-'));
  const path = (file: string) => join(folder, file);
  const decode = (input: string) => runFfmpeg('-ss', '3240', '-i', input, '-frames:v', '1', '-f', 'null', '-');
  try {
    const figures = await inTurn(
      LONG_RUNS,
      () => seconds(() => decode(ours)),
      () =>
        seconds(async () => {
          const files = [HOUR + PROGRESSIVE.video, HOUR + PROGRESSIVE.audio];
          await Promise.all(files.map((file) => take(`${bench.origin.baseUrl}/media/${file}`, path(file))));
          await runFfmpeg(...files.flatMap((file) => ['-i', path(file)]), '-c', 'copy', path('muxed.mp4'));
          await decode(path('muxed.mp4'));
        }),
    );
    return { what: 'picture at 90 % of an hour', ...figures, rivalName: 'download both, mux, seek', unit: 's' };
  } finally {
    await rm(folder, { recursive: true });
  }
}
