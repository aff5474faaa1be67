import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createFaultHandler } from '../../test/origin/faults.ts';
import { json } from '../../test/origin/respond.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { installedTools } from '../../test/support/installed-tools.ts';
import { type StandaloneCase, startReelay } from '../bench.ts';
import { firstByteMs, streamOf, take } from '../clients.ts';
import { inTurn, median, seconds } from '../figures.ts';

const run = promisify(execFile);
const RUNS = 3;
const LATENCY_MS = 50;
/** Number of segments, and the longest time until the table is made, in seconds. */
const LISTS = [
  [200, 1.5],
  [2400, 18],
  [7200, 50],
] as const;
const PROBES = '8';
/** Number of segments of the list whose throughput is measured, from a source without latency: two minutes at 3 Mbit/s. */
const TAKEN = 30;
const DISTINCT = 5;
const ENCODED = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '100', '-b:v', '3M'];
const SEGMENTS = ['-f', 'hls', '-hls_time', '4', '-hls_list_size', '0', '-hls_segment_filename', '%d.ts', 'all.m3u8'];
const FRAGMENTED = [
  '-c',
  'copy',
  '-bsf:a',
  'aac_adtstoasc',
  '-movflags',
  'frag_keyframe+empty_moov+default_base_moof',
  '-f',
  'mp4',
  'pipe:1',
];

/** Serves lists of any number of segments, which repeat: `/media/LATENCY-COUNT.m3u8`. */
async function startListOrigin(folder: string) {
  const segments = Array.from({ length: DISTINCT }, (_, index) => readFileSync(join(folder, `${index}.ts`)));
  const handlers = segments.map((bytes) => createFaultHandler({ bytes, contentType: 'video/mp2t' }));
  const origin = await startOrigin({
    mediaDir: folder,
    mounts: {
      '/site-api/': (exchange) => {
        const { path: name, url } = exchange;
        const format = { format_id: 'f', url: `${url.origin}/media/${name}.m3u8`, protocol: 'm3u8_native' };
        const formats = [{ ...format, ext: 'mp4', vcodec: 'avc1.42c01e', acodec: 'mp4a.40.2', height: 360 }];
        json(exchange, { info: { id: name, title: name, duration: Number(name.split('-')[1]) * 4, formats } });
      },
      '/media/': async ({ path, request, response }) => {
        const [latencyMs = 0, count = 0] = path.split(/[-.]/).map(Number);
        if (path.endsWith('.m3u8')) {
          const entries = Array.from({ length: count }, (_, index) => `#EXTINF:4.000000,\n${latencyMs}-${index}.ts`);
          response.end(['#EXTM3U', '#EXT-X-TARGETDURATION:4', ...entries, '#EXT-X-ENDLIST'].join('\n'));
          return;
        }
        await sleep(latencyMs);
        handlers[count % DISTINCT]?.(request, response);
      },
    },
  });
  return { ...origin, bytes: segments.reduce((sum, { length }) => sum + length, 0) / DISTINCT };
}

/** User and system seconds of FFmpeg, which copies a list into a pipe. */
async function cpuOfFfmpeg(path: string, list: string): Promise<number> {
  const script = `TIMEFORMAT='%U %S'; time "$0" "$@" > /dev/null`;
  const { stderr } = await run('bash', ['-c', script, path, '-nostdin', '-v', 'quiet', '-i', list, ...FRAGMENTED]);
  const [user = 0, system = 0] = stderr.trim().split(' ').map(Number);
  return user + system;
}

/** Lists of MPEG-TS: how long their first byte takes, and how fast they are sent beside FFmpeg. */
export const lists: StandaloneCase = async function* () {
  const { ffmpeg } = await installedTools();
  const folder = await mkdtemp(join(tmpdir(), 'bench-lists-'));
  const picture = ['-f', 'lavfi', '-i', `testsrc2=s=640x360:r=25:d=${DISTINCT * 4},noise=alls=60:allf=t`];
  const tone = ['-f', 'lavfi', '-i', `sine=400:r=48000:d=${DISTINCT * 4}`];
  const args = ['-nostdin', '-v', 'error', ...picture, ...tone, ...ENCODED, '-c:a', 'aac', ...SEGMENTS];
  await run(ffmpeg.path, args, { cwd: folder });
  const origin = await startListOrigin(folder);
  const service = await startReelay(origin.host, { SEGMENT_PROBES: PROBES });
  const urlOf = (name: string) => streamOf(service, origin.url(`/site/${name}`));
  try {
    for (const [count, atMost] of LISTS) {
      const url = await urlOf(`${LATENCY_MS}-${count}`);
      const what = `${count} segments at ${LATENCY_MS} ms`;
      const made = await seconds(async () => {
        for (;;) {
          const { headers } = await fetch(url, { method: 'HEAD' });
          if (headers.has('content-length')) return;
        }
      });
      yield { what: `${what}: length known`, ours: made, unit: 's', atMost };
      const known: number[] = [];
      for (let time = 0; time < 7; time += 1) known.push(await firstByteMs(url, { range: 'bytes=0-99' }));
      yield { what: `${what}: first byte then`, ours: median(known), unit: 'ms', atMost: 10 };
    }
    // Each time another list, of which nothing is in memory.
    let taken = TAKEN;
    const used: number[] = [];
    const megabytes = () => (origin.bytes * taken) / 1e6;
    const listOf = () => origin.url(`/media/0-${taken}.m3u8`);
    const speed = await inTurn(
      RUNS,
      async () => {
        taken += 1;
        const url = await urlOf(`0-${taken}`);
        await fetch(url, { method: 'HEAD' });
        const before = service.cpuSeconds();
        const lasted = await seconds(() => take(url));
        used.push(service.cpuSeconds() - before);
        return megabytes() / lasted;
      },
      async () => megabytes() / (await seconds(() => cpuOfFfmpeg(ffmpeg.path, listOf()))),
    );
    yield { what: 'a list of MPEG-TS', ...speed, rivalName: 'FFmpeg -c copy', unit: 'MB/s', atLeast: 1 };
    const rival = await cpuOfFfmpeg(ffmpeg.path, listOf());
    yield { what: '  its CPU time', ours: median(used), rival, rivalName: 'FFmpeg -c copy', unit: 's' };
  } finally {
    await service.close();
    await origin.close();
    await rm(folder, { recursive: true, force: true });
  }
};
