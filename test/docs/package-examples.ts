import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { serveMedia } from '../../packages/seekable-media/test/served-media.ts';
import { createFaultHandler } from '../origin/faults.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { expectPackets } from '../support/expect-packets.ts';
import { installedTools } from '../support/installed-tools.ts';
import { listen } from '../support/listen.ts';
import { probeBody } from '../support/media-tools.ts';
import { sendRequest } from '../support/request.ts';

/** @returns what an example writes */
const run = async (path: string, ...args: readonly string[]): Promise<Buffer> =>
  (await promisify(execFile)(process.execPath, [path, ...args], { encoding: 'buffer', maxBuffer: 2 ** 26 })).stdout;

/** Starts an example that is a server. @returns its first line */
async function start(path: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  closeAfterwards({
    close: async () => {
      child.kill();
      await ended;
    },
  });
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error(`${path} has ended`);
}

/** Serves a file, and a list of segments, at a source that refuses its first request and drops a connection. */
async function serveBadly() {
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) >> 8));
  const media = Buffer.concat([Buffer.from('1a45dfa3', 'hex'), bytes]);
  const list = '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n/1\n#EXTINF:4,\n/2\n#EXT-X-ENDLIST\n';
  const handlers = new Map(
    Object.entries({ '/file': bytes, '/list.m3u8': Buffer.from(list), '/1': media, '/2': media }).map(
      ([path, file]) => {
        const drop = { name: 'drop', after: 100_000, times: path === '/2' ? 0 : 1 } as const;
        return [path, createFaultHandler({ bytes: file, fault: drop, etag: null })];
      },
    ),
  );
  let requests = 0;
  const server = createServer((request, response) => {
    if (requests++ === 0) response.writeHead(410).end();
    else handlers.get(request.url ?? '')?.(request, response);
  });
  const drops = () => [...handlers.values()].flatMap(({ seen }) => seen).filter(({ state }) => state === 'left').length;
  return { ...closeAfterwards(await listen(server)), drops, bytes, segments: Buffer.concat([media, media]) };
}

/** What the copy of an example at a path does, by package and file. */
export const EXAMPLES: Readonly<Record<string, (path: string) => Promise<void>>> = {
  // It loads a name once for all who ask for it.
  async 'concurrency/example.ts'(path) {
    expect((await run(path)).toString()).toBe("Loading a\nLoading b\n[ 'A', 'A', 'B' ]\n");
  },
  // It refuses a private address.
  async 'guarded-fetch/example.ts'(path) {
    expect((await run(path)).toString()).toBe('Refused: Host is not on the public internet\n');
  },
  // It serves two files as one, by ranges.
  async 'seekable-media/example.ts'(path) {
    const { url, folder } = await serveMedia();
    const line = await start(path, `${url}/video.mp4`, `${url}/audio.m4a`, '0');
    const joined = `http://localhost:${/port: (\d+)/.exec(line)?.[1]}/`;
    const whole = await sendRequest(joined);
    expect([whole.status, whole.headers['content-length']]).toEqual([200, String(whole.body.length)]);
    await expectPackets(whole.body, [join(folder, 'video.mp4'), join(folder, 'audio.m4a')]);
    const end = await sendRequest(joined, { headers: { range: 'bytes=-999' } });
    expect([end.status, end.body.equals(whole.body.subarray(-999))]).toEqual([206, true]);
    const known = await sendRequest(joined, { headers: { 'if-none-match': whole.headers.etag ?? '' } });
    const head = await sendRequest(joined, { method: 'HEAD' });
    expect([known.status, head.status, head.headers['content-length']]).toEqual([
      304,
      200,
      whole.headers['content-length'],
    ]);
    // It goes on after a client has left.
    await sendRequest(joined, { maxBytes: 1 });
    expect((await sendRequest(joined, { method: 'POST' })).status).toBe(405);
  },
  // It writes a part of a file.
  async 'seekable-media/example-clip.ts'(path) {
    const { url } = await serveMedia();
    const part = await run(path, `${url}/video.mp4`, '2.5', '6');
    expect((await probeBody(part, '.mp4')).durationSeconds).toBeCloseTo(3.5, 1);
  },
  // It writes two lists as one file.
  async 'source/example-hls.ts'(path) {
    const { url, host, folder } = await serveMedia();
    const file = await run(path, `${url}/picture.m3u8`, `${url}/sound.m3u8`, host);
    await expectPackets(file, [join(folder, 'video.mp4'), join(folder, 'audio.m4a')], { isApart: true });
  },
  // It loses no byte at a source that refuses a URL and drops connections.
  async 'source/example.ts'(path) {
    for (const name of ['file', 'list.m3u8']) {
      const { url, host, drops, bytes, segments } = await serveBadly();
      const expected = name === 'file' ? bytes : segments;
      expect((await run(path, `${url}/${name}`, host)).equals(expected)).toBe(true);
      expect(drops()).toBeGreaterThan(0);
    }
  },
  // It starts a worker, which reaches no private address.
  async 'yt-dlp-worker/example.ts'(path) {
    const { ytDlp } = await installedTools();
    const output = await run(path, 'http://169.254.169.254/latest/meta-data', ...ytDlp.command);
    expect(output.toString()).toContain("kind: 'egress_refused'");
  },
};
