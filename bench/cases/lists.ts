import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { installedTools } from '../../test/support/installed-tools.ts';
import { resolveBy, type StandaloneCase, startReelay } from '../bench.ts';
import { firstByteMs, take } from '../clients.ts';
import { inTurn, median, seconds } from '../figures.ts';

const run = promisify(execFile);
const RUNS = Number(process.env.BENCH_RUNS ?? 3);
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
  const server = createServer(async ({ url = '', headers }, response) => {
    const [, place, name = ''] = url.split('/');
    const [latencyMs = 0, count = 0] = name.split(/[-.]/).map(Number);
    if (place !== 'media') {
      const format = { format_id: 'f', url: `http://${headers.host}/media/${name}.m3u8`, protocol: 'm3u8_native' };
      const formats = [{ ...format, ext: 'mp4', vcodec: 'avc1.42c01e', acodec: 'mp4a.40.2', height: 360 }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ info: { id: name, title: name, duration: count * 4, formats } }));
    } else if (name.endsWith('.m3u8')) {
      const entries = Array.from({ length: count }, (_, index) => `#EXTINF:4.000000,\n${latencyMs}-${index}.ts`);
      response.end(['#EXTM3U', '#EXT-X-TARGETDURATION:4', ...entries, '#EXT-X-ENDLIST'].join('\n'));
    } else {
      await sleep(latencyMs);
      const bytes = segments[count % DISTINCT] ?? Buffer.alloc(0);
      const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
      const first = Number(from);
      const end = Math.min(bytes.length, to === '' ? bytes.length : Number(to) + 1);
      response.writeHead(headers.range ? 206 : 200, {
        'content-type': 'video/mp2t',
        'content-length': end - first,
        ...(headers.range && { 'content-range': `bytes ${first}-${end - 1}/${bytes.length}` }),
      });
      response.end(bytes.subarray(first, end));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { host, bytes: segments.reduce((sum, { length }) => sum + length, 0) / DISTINCT, close };
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
  const data = await mkdtemp(join(tmpdir(), 'bench-lists-data-'));
  const picture = ['-f', 'lavfi', '-i', `testsrc2=s=640x360:r=25:d=${DISTINCT * 4},noise=alls=60:allf=t`];
  const tone = ['-f', 'lavfi', '-i', `sine=400:r=48000:d=${DISTINCT * 4}`];
  const args = ['-nostdin', '-v', 'error', ...picture, ...tone, ...ENCODED, '-c:a', 'aac', ...SEGMENTS];
  await run(ffmpeg.path, args, { cwd: folder });
  const origin = await startListOrigin(folder);
  const service = await startReelay(origin.host, data, { SEGMENT_PROBES: PROBES });
  const streamOf = async (name: string) => {
    const { mediaItems } = await resolveBy(service, `http://${origin.host}/site/${name}`);
    return `${service.baseUrl}/api/Stream/Media/${mediaItems[0]?.video?.bestQualityKey}`;
  };
  try {
    for (const [count, atMost] of LISTS) {
      const url = await streamOf(`${LATENCY_MS}-${count}`);
      const [what, alone] = [`${count} segments at ${LATENCY_MS} ms`, { rival: Number.NaN, rivalName: '' }];
      const made = await seconds(async () => {
        for (;;) {
          const { headers } = await fetch(url, { method: 'HEAD' });
          if (headers.has('content-length')) return;
        }
      });
      yield { what: `${what}: length known`, ours: made, ...alone, unit: 's', atMost };
      const known: number[] = [];
      for (let time = 0; time < 7; time += 1) known.push(await firstByteMs(url, { range: 'bytes=0-99' }));
      yield { what: `${what}: first byte then`, ours: median(known), ...alone, unit: 'ms', atMost: 10 };
    }
    // Each time another list, of which nothing is in memory.
    let taken = TAKEN;
    const used: number[] = [];
    const megabytes = () => (origin.bytes * taken) / 1e6;
    const listOf = () => `http://${origin.host}/media/0-${taken}.m3u8`;
    const speed = await inTurn(
      RUNS,
      async () => {
        taken += 1;
        const url = await streamOf(`0-${taken}`);
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
    origin.close();
    for (const each of [folder, data]) await rm(each, { recursive: true, force: true });
  }
};
