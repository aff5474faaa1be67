import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ByteReader, readFileHeaders } from '@reelay/seekable-media/reading';
import { createLayout } from '@reelay/seekable-media/virtual-mp4';
import type { SizedFile } from '../../stream-service/source/open-source.ts';
import { installedTools } from '../../test/support/installed-tools.ts';
import type { Bench, Case } from '../bench.ts';
import { firstByteMs, measureLoad, take } from '../clients.ts';
import { type Figure, inTurn, median, seconds } from '../figures.ts';
import { MEDIA_DIR } from '../media.ts';
import { pairOf } from '../origin.ts';

const run = promisify(execFile);
const RUNS = 5;
const LAYOUT_RUNS = 15;

/** A pair of files, and the same tracks in one file, which is sent as it is. */
interface Pair {
  readonly form: string;
  readonly video: string;
  readonly audio: string;
  readonly direct: string;
  readonly durationSeconds: number;
}

const SHORT: readonly Pair[] = [
  { form: 'fragmented', video: 'indexed.mp4', audio: 'indexed.m4a', direct: 'both.mp4', durationSeconds: 60 },
  { form: 'progressive', video: 'video.mp4', audio: 'audio.m4a', direct: 'both.mp4', durationSeconds: 60 },
];
const HOURS = SHORT.map(({ form, video, audio, direct }): Pair => {
  const ofHour = (file: string) => `hour-${file}`;
  return { form, video: ofHour(video), audio: ofHour(audio), direct: ofHour(direct), durationSeconds: 3600 };
});

/** The seekable file of a pair beside the same tracks in one file, and beside what a user would do without it. */
export const twin: Case = async function* (bench) {
  for (const pair of SHORT) {
    const urls = await publish(bench, pair);
    for (const clients of [1, 10]) yield* throughput(bench, urls, pair, clients);
    yield await segmentedDownload(urls, pair);
  }
  for (const pair of HOURS) {
    const urls = await publish(bench, pair);
    yield* firstBytes(bench, urls, pair);
  }
  yield await withoutTwin(bench);
  for (const pair of HOURS) yield* layoutCost(pair);
};

interface Urls {
  readonly ours: string;
  /** The one file, through the service too. */
  readonly direct: string;
}

async function publish({ origin, stream }: Bench, pair: Pair, suffix = ''): Promise<Urls> {
  const names = { pair: `twin-${pair.video}${suffix}`, direct: `twin-${pair.direct}${suffix}` };
  await origin.publish(names.pair, pairOf(pair.video, pair.audio), pair.durationSeconds);
  await origin.publish(names.direct, [{ file: pair.direct, holds: 'both' }], pair.durationSeconds);
  return { ours: (await stream(names.pair)).replace('/Combined/', '/Media/'), direct: await stream(names.direct) };
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
    clients > 1 ? 3 : RUNS,
    () => speed(ours, cpu.ours),
    () => speed(direct, cpu.rival),
  );
  const what = `${form} pair, ${clients} client${clients > 1 ? 's' : ''}`;
  yield { what, ...figures, rivalName: 'one file', unit: 'MB/s', atLeast: 0.8 };
  const medians = { ours: median(cpu.ours), rival: median(cpu.rival) };
  yield { what: `${what}, CPU`, ...medians, rivalName: 'one file', unit: 's/GB' };
}

async function segmentedDownload({ ours, direct }: Urls, { form }: Pair): Promise<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-twin-'));
  const args = [
    '-q',
    '-x',
    '8',
    '-s',
    '8',
    '-k',
    '1M',
    '--file-allocation=none',
    '--allow-overwrite=true',
    '-d',
    folder,
  ];
  const download = (url: string, file: string) => seconds(() => run('aria2c', [...args, '-o', file, url]));
  const figures = await inTurn(
    RUNS,
    () => download(ours, 'ours.mp4'),
    () => download(direct, 'direct.mp4'),
  );
  await rm(folder, { recursive: true });
  return { what: `${form} pair, aria2c -x 8`, ...figures, rivalName: 'one file', unit: 's', atMost: 1.3 };
}

async function* firstBytes(bench: Bench, { ours, direct }: Urls, pair: Pair): AsyncGenerator<Figure> {
  // Other keys of the same files: their layouts are not known.
  const fresh: Urls[] = [];
  for (let count = 0; count < RUNS; count += 1) fresh.push(await publish(bench, pair, `-${count}`));
  const cold = { ours: fresh.map((urls) => urls.ours), direct: fresh.map((urls) => urls.direct) };
  const first = await inTurn(
    RUNS,
    () => firstByteMs(cold.ours.shift() ?? ours),
    () => firstByteMs(cold.direct.shift() ?? direct),
  );
  const goal = { rivalName: 'one file', unit: 'ms', atMost: 2 };
  yield { what: `${pair.form} hour, first byte, unknown layout`, ...first, rivalName: 'one file', unit: 'ms' };
  const again = await inTurn(
    RUNS,
    () => firstByteMs(ours),
    () => firstByteMs(direct),
  );
  yield { what: `${pair.form} hour, first byte`, ...again, ...goal };
  const seek = async (url: string) => {
    const { headers } = await fetch(url, { method: 'HEAD' });
    const offset = Math.floor(Number(headers.get('content-length')) * 0.9);
    return firstByteMs(url, { range: `bytes=${offset}-` });
  };
  const seeks = await inTurn(
    RUNS,
    () => seek(ours),
    () => seek(direct),
  );
  yield { what: `${pair.form} hour, first byte at 90 %`, ...seeks, ...goal };
}

/** What a user does who has two files: download both, mux them, and seek then. */
async function withoutTwin(bench: Bench): Promise<Figure> {
  const { ffmpeg } = await installedTools();
  const [pair] = HOURS;
  if (!pair) throw new Error('unreachable');
  const { ours } = await publish(bench, pair);
  const folder = await mkdtemp(join(tmpdir(), 'bench-twin-'));
  const path = (file: string) => join(folder, file);
  const decode = (input: string) =>
    run(ffmpeg.path, ['-nostdin', '-v', 'error', '-ss', '3240', '-i', input, '-frames:v', '1', '-f', 'null', '-']);
  const figures = await inTurn(
    3,
    () => seconds(() => decode(ours)),
    () =>
      seconds(async () => {
        const files = [pair.video, pair.audio];
        await Promise.all(files.map((file) => take(`${bench.nginx.baseUrl}/media/${file}`, path(file))));
        const inputs = files.flatMap((file) => ['-i', path(file)]);
        await run(ffmpeg.path, ['-nostdin', '-v', 'error', '-y', ...inputs, '-c', 'copy', path('muxed.mp4')]);
        await decode(path('muxed.mp4'));
      }),
  );
  await rm(folder, { recursive: true });
  return { what: 'picture at 90 % of an hour', ...figures, rivalName: 'download both, mux, seek', unit: 's' };
}

async function* layoutCost({ form, video, audio }: Pair): AsyncGenerator<Figure> {
  const headers = await Promise.all(
    [video, audio].map(async (file) =>
      readFileHeaders(new ByteReader(await openFile(join(MEDIA_DIR, file))), { signal: new AbortController().signal }),
    ),
  );
  const [videoHeader, audioHeader] = headers;
  if (!videoHeader || !audioHeader) throw new Error('unreachable');
  const cpu: number[] = [];
  let memoryBytes = 0;
  for (let count = 0; count < LAYOUT_RUNS; count += 1) {
    const before = process.cpuUsage();
    ({ memoryBytes } = createLayout([videoHeader, audioHeader]));
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1000);
  }
  yield { what: `${form} hour, layout, CPU`, ours: median(cpu), unit: 'ms', atMost: 30 };
  yield { what: `${form} hour, layout, first one`, ours: cpu[0] ?? Number.NaN, unit: 'ms' };
  yield { what: `${form} hour, layout, memory`, ours: memoryBytes / 1e6, unit: 'MB', atMost: 4 };
}

/** A file of this machine as a source. */
async function openFile(path: string): Promise<SizedFile> {
  const { size } = await stat(path);
  return {
    needsRemux: false,
    size,
    validator: undefined,
    read: (first, last = size - 1) => createReadStream(path, { start: first, end: last }),
    close: () => undefined,
  };
}
