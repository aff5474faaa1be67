import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MEDIA_CACHE } from '../origin/media.ts';
import { needs } from './clients.ts';

const run = promisify(execFile);

/** Output of ffprobe. Durations in seconds. */
interface Probe {
  readonly durationSeconds: number;
  readonly format: string;
  /** Of its streams, in order. */
  readonly codecs: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly streams: readonly {
    readonly type: string;
    readonly codec: string;
    readonly height?: number;
    readonly durationSeconds: number;
  }[];
}

/** Runs ffprobe on a file or URL, headers only. @throws when it is no media */
export async function probe(input: string): Promise<Probe> {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-of', 'json', '-show_format', '-show_streams', input]);
  const { format, streams } = JSON.parse(stdout) as {
    format: { duration?: string; format_name: string; tags?: Record<string, string> };
    streams: { codec_type: string; codec_name: string; height?: number; duration?: string }[];
  };
  return {
    durationSeconds: Number(format.duration),
    format: format.format_name,
    codecs: streams.map(({ codec_name }) => codec_name),
    tags: format.tags ?? {},
    streams: streams.map(({ codec_type, codec_name, height, duration }) => ({
      type: codec_type,
      codec: codec_name,
      durationSeconds: Number(duration),
      ...(height === undefined ? {} : { height }),
    })),
  };
}

/** Uses a media body as a file. */
const withFile = <T>(body: Buffer, extension: string, use: (file: string) => Promise<T>): Promise<T> =>
  withTemporaryFolder(async (folder) => {
    const file = join(folder, `body${extension}`);
    await writeFile(file, body);
    return use(file);
  });

/** Probes a media body, in a fraction of the time that decoding it takes. */
export const probeBody = (body: Buffer, extension: string): Promise<Probe> => withFile(body, extension, probe);

/** Probes and decodes a media body. @returns the probe, and decoder messages */
export const inspect = (body: Buffer, extension: string) =>
  withFile(body, extension, async (file) => ({ ...(await probe(file)), complaints: await complaintsOf(file) }));

/** Decodes a media file. @returns decoder messages */
export async function complaintsOf(file: string): Promise<string> {
  const args = ['-nostdin', '-v', 'error', '-threads', '1', '-i', file, '-f', 'null', '-'];
  return (await run('ffmpeg', args)).stderr;
}

/** When the first stream of a media body begins, in seconds. */
export const startSecondsOf = (body: Buffer, extension = '.mp4'): Promise<number> =>
  withFile(body, extension, async (file) => {
    const args = ['-v', 'error', '-show_entries', 'format=start_time', '-of', 'csv=p=0', file];
    return Number((await run('ffprobe', args)).stdout);
  });

/** Runs `use` with a folder that is removed afterwards. */
export async function withTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'reelay-test-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a program; returns its exit code and output. Without the program the test is skipped. */
export function runProgram(command: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  if (!command.includes('/')) needs(command);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => reject(new Error(`${command} is needed for this test`, { cause: error })));
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** Packets of files that stay as they are: FFmpeg takes longer to start than to read most of them. */
const packetsOfMedia = new Map<string, Promise<string[]>>();

/**
 * The digests of the packets of a side and when they are shown, in milliseconds since the first of them.
 * @param file a path, or what is written into one
 * @param options of FFmpeg for its input
 */
export async function packetsOf(file: string | Buffer, side: 'v' | 'a', ...options: string[]): Promise<string[]> {
  if (typeof file !== 'string') return withFile(file, '.mp4', (written) => readPackets(written, side, options));
  if (!file.startsWith(MEDIA_CACHE)) return readPackets(file, side, options);
  const key = JSON.stringify([file, side, options]);
  const packets = packetsOfMedia.get(key) ?? readPackets(file, side, options);
  packetsOfMedia.set(key, packets);
  return packets;
}

/**
 * Digests of the pictures that FFmpeg decodes, each scaled to one size: unasked, FFmpeg scales to that of the first one.
 * @param options of FFmpeg for its input
 */
export async function picturesOf(file: string | Buffer, ...options: string[]): Promise<string[]> {
  if (typeof file !== 'string') return withFile(file, '.mp4', (written) => picturesOf(written, ...options));
  const scaled = ['-map', '0:v', '-vf', 'scale=64:64:flags=neighbor+bitexact', '-fps_mode', 'passthrough'];
  const { rows } = await digestsOf(file, options, scaled);
  return rows.map((row) => row[5] ?? '');
}

/** What FFmpeg writes as framemd5, in fields, and the duration of a unit of its times in milliseconds. */
async function digestsOf(file: string, options: readonly string[], output: readonly string[]) {
  const args = ['-v', 'error', ...options, '-i', file, ...output, '-f', 'framemd5', '-'];
  const { stdout } = await run('ffmpeg', args, { maxBuffer: 2 ** 26 });
  const [, numerator = 1, denominator = 1] = (/#tb 0: (\d+)\/(\d+)/.exec(stdout) ?? []).map(Number);
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const rows = lines.map((line) => line.split(',').map((field) => field.trim()));
  return { rows, unitMs: (numerator * 1000) / denominator };
}

async function readPackets(file: string, side: 'v' | 'a', options: readonly string[]): Promise<string[]> {
  const { rows, unitMs } = await digestsOf(file, options, ['-map', `0:${side}`, '-c', 'copy']);
  const first = Number(rows[0]?.[2]);
  return rows.map((row) => {
    const ms = (Number(row[2]) - first) * unitMs;
    // Further columns are of side data: what is left out at the beginning and the end.
    return `${Math.round(ms)} ${row[5]}`;
  });
}
