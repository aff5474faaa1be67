import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { startOrigin } from '../origin/server.ts';
import { sha256 } from '../sites/stock-yt-dlp.ts';
import { itWith } from '../support/clients.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { freePort } from '../support/free-port.ts';
import { startListening } from '../support/listening-program.ts';
import { startNginxCache } from '../support/nginx-cache.ts';
import { isThere } from '../support/on-path.ts';
import { sendRequest } from '../support/request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startOwnService } from './target.ts';

const dir = await temporaryFolder();
const origin = closeAfterwards(await startOrigin());
const service = closeAfterwards(await startOwnService(origin, { dataDir: join(dir, 'data') }, { hasPage: false }));
const link = encodeURIComponent(origin.url('/files/clip.mp4'));
const { body: resolved } = await sendRequest(`${service.baseUrl}/api/Fetch/GetResource?url=${link}`);
const path = `/api/Stream/Media/${JSON.parse(resolved.toString()).mediaItems[0].video.bestQualityKey}`;
const bytes = await readFile(join(origin.mediaDir, 'clip.mp4'));
const etag = (await sendRequest(service.baseUrl + path)).headers.etag ?? '';

/** Starts a program that listens at a free port. */
async function startCache(program: string, argsFor: (port: number) => Promise<readonly string[]>) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await startListening(program, await argsFor(port), dir, () => sendRequest(`${url}/api/App`));
  return url;
}

const upstream = new URL(service.baseUrl);
const startVarnish = () =>
  startCache('varnishd', async (port) => [
    ...['-F', '-j', 'none', '-n', join(dir, 'varnish'), '-a', `127.0.0.1:${port}`, '-b', upstream.host],
    ...['-s', 'malloc,64m', '-T', 'none'],
  ]);
const startSquid = () =>
  startCache('squid', async (port) => {
    const config = join(dir, 'squid.conf');
    const lines = [
      `http_port 127.0.0.1:${port} accel defaultsite=${upstream.host} no-vhost`,
      `cache_peer ${upstream.hostname} parent ${upstream.port} 0 no-query originserver no-digest`,
      ...['http_access allow all', 'pid_filename none', 'access_log none', 'cache_log /dev/null', 'cache_mem 64 MB'],
      ...['maximum_object_size_in_memory 64 MB', 'pinger_enable off', 'shutdown_lifetime 0 seconds'],
      `coredump_dir ${dir}`,
    ];
    await writeFile(config, lines.join('\n'));
    return ['-N', '-f', config];
  });
const startNginx = async () => closeAfterwards(await startNginxCache(service.baseUrl)).url;

const whole = { status: 200, body: bytes };
const REQUESTS: readonly (readonly [string, Record<string, string>, typeof whole])[] = [
  ['all of it', {}, whole],
  ['all of it again', {}, whole],
  ['a range', { range: 'bytes=100-199' }, { status: 206, body: bytes.subarray(100, 200) }],
  ['the last bytes', { range: 'bytes=-50' }, { status: 206, body: bytes.subarray(-50) }],
  [
    'a range of the current ETag',
    { range: 'bytes=5-9', 'if-range': etag },
    { status: 206, body: bytes.subarray(5, 10) },
  ],
  ['a range of another ETag', { range: 'bytes=5-9', 'if-range': '"another"' }, whole],
  ['what it has', { 'if-none-match': etag }, { status: 304, body: Buffer.alloc(0) }],
  ['what it has, weakly', { 'if-none-match': `"another", W/${etag}` }, { status: 304, body: Buffer.alloc(0) }],
  ['another ETag', { 'if-none-match': '"another"' }, whole],
];

/** Each with what it does wrong itself: Varnish 7 reads no list of ETags, Squid 5 sends the rest of the file from the range on. */
const CACHES = [
  ['nginx', startNginx, ''],
  ['varnishd', startVarnish, 'what it has, weakly'],
  ['squid', startSquid, 'a range of another ETag'],
] as const;
for (const [program, start, fault] of CACHES)
  describe(`through ${program} as a cache`, () => {
    let url = '';
    beforeAll(async () => {
      if (isThere(program)) url = await start();
    });
    itWith(program).each(REQUESTS.filter(([name]) => name !== fault))(
      'a client gets %s',
      async (_, headers, expected) => {
        const { status, body } = await sendRequest(url + path, { headers });
        expect([status, sha256(body)]).toEqual([expected.status, sha256(expected.body)]);
      },
    );
  });
