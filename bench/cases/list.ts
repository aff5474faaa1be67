import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFaultHandler } from '../../test/origin/faults.ts';
import { json } from '../../test/origin/respond.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { type Case, startReelay } from '../bench.ts';
import { firstByteMs, streamOf, take } from '../clients.ts';
import { inTurn, median, seconds, unlessShort } from '../figures.ts';
import { endedChildrenCpuSeconds, type Server } from '../processes.ts';
import { runFfmpeg, runYtDlp } from '../rivals.ts';

const RUNS = unlessShort(3);
const LATENCY_MS = 50;
/** Number of segments, and the longest time until the length is known, in seconds. */
const LISTS = (
  [
    [200, 1.5],
    [2400, 18],
    [7200, 50],
  ] as const
).slice(0, unlessShort(3));
const PROBES = '8';
/** Number of segments of the list whose throughput is measured, from a source without latency: two minutes at 3 Mbit/s. */
const TAKEN = 30;
const DISTINCT = 5;
const ENCODED = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 100 -b:v 3M -c:a aac'.split(' ');
const SEGMENTS = '-f hls -hls_time 4 -hls_list_size 0 -hls_segment_filename'.split(' ');
const FRAGMENTED =
  '-c copy -bsf:a aac_adtstoasc -movflags frag_keyframe+empty_moov+default_base_moof -f mp4 /dev/null'.split(' ');

/** Lists of MPEG-TS: how long their first byte takes, and how fast they are sent beside FFmpeg and yt-dlp. */
export const list: Case = async function* () {
  const folder = await mkdtemp(join(tmpdir(), 'bench-list-'));
  await using started = new AsyncDisposableStack();
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const picture = ['-f', 'lavfi', '-i', `testsrc2=s=640x360:r=25:d=${DISTINCT * 4},noise=alls=60:allf=t`];
  const tone = ['-f', 'lavfi', '-i', `sine=400:r=48000:d=${DISTINCT * 4}`];
  await runFfmpeg(...picture, ...tone, ...ENCODED, ...SEGMENTS, join(folder, '%d.ts'), join(folder, 'all.m3u8'));
  const origin = await startListOrigin(folder);
  started.defer(origin.close);
  const service = await startReelay(origin.host, { SEGMENT_PROBES: PROBES });
  started.defer(service.close);
  for (const [count, atMost] of LISTS) yield* firstBytes(service, origin, count, atMost);
  yield* throughput(service, origin, join(folder, 'taken.mp4'));
};

type ListOrigin = Awaited<ReturnType<typeof startListOrigin>>;

async function* firstBytes(service: Server, origin: ListOrigin, count: number, atMost: number) {
  const url = await streamOf(service, origin.url(`/site/${LATENCY_MS}-${count}`));
  const what = `list of ${count} segments at ${LATENCY_MS} ms`;
  const lengthKnown = await seconds(async () => {
    for (;;) {
      const { headers } = await fetch(url, { method: 'HEAD' });
      if (headers.has('content-length')) return;
    }
  });
  yield { what: `${what}: length known`, ours: lengthKnown, unit: 's', atMost };
  const known: number[] = [];
  for (let time = 0; time < 7; time += 1) known.push(await firstByteMs(url, { range: 'bytes=0-99' }));
  yield { what: `${what}: first byte then`, ours: median(known), unit: 'ms', atMost: 10 };
}

/** @param file that yt-dlp writes */
async function* throughput(service: Server, origin: ListOrigin, file: string) {
  let count = TAKEN;
  const megabytes = () => (origin.bytes * count) / 1e6;
  const listUrl = () => origin.url(`/media/0-${count}.m3u8`);
  const cpu: number[] = [];
  const ours = async () => {
    // Each time another list, of which nothing is in memory.
    count += 1;
    const url = await streamOf(service, origin.url(`/site/0-${count}`));
    await fetch(url, { method: 'HEAD' });
    const before = service.cpuSeconds();
    const lasted = await seconds(() => take(url));
    cpu.push(service.cpuSeconds() - before);
    return megabytes() / lasted;
  };
  const rivals = [
    { rivalName: 'FFmpeg -c copy', atLeast: 1, download: () => runFfmpeg('-i', listUrl(), ...FRAGMENTED) },
    {
      rivalName: 'yt-dlp -N 8',
      download: () => runYtDlp('-q', '--force-overwrites', '-N', PROBES, '-o', file, listUrl()),
    },
  ];
  for (const { download, ...rival } of rivals) {
    const speed = await inTurn(RUNS, ours, async () => megabytes() / (await seconds(download)));
    yield { what: 'list of MPEG-TS', ...speed, ...rival, unit: 'MB/s' };
    const spent = { ours: median(cpu), rival: await endedChildrenCpuSeconds(download) };
    yield { what: 'list of MPEG-TS, CPU', ...spent, rivalName: rival.rivalName, unit: 's' };
  }
}

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
