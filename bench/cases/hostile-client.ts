/**
 * One hostile client with its own origin, in a process of its own. `/` of the origin answers how much it has achieved.
 * Arguments: the attack, the port to listen on, the addresses of the service and of a server of media, and the client's own.
 */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { HOSTILE_LINKS, serveHostileLinks } from '../../test/attacks/hostile-links.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { request, resolveUrl, streamOf } from '../clients.ts';

const [name = '', originPort, baseUrl = '', media = '', localAddress = ''] = process.argv.slice(2);

/** Loops side by side. A refusal is immediate: without a pause the attack would only take its own processor. */
const REFUSED_PAUSE_MS = 20;
const FLOOD_CONNECTIONS = 64;
const PIPELINED = 8;
const STREAMS = 20;
const LINKS = 24;
const HOUR_MP3_BYTES = 86_000_000;

/** What has reached the service and come back, or been requested by it. */
let achieved = 0;

/** Attacks by name, each until the process is ended. */
const ATTACKS: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'flood of /api/App'() {
    for (let connection = 0; connection < FLOOD_CONNECTIONS; connection += 1) flood();
  },
  async 'conversions to MP3'() {
    const url = await insist(`${media}/hour.m4a?whole`);
    await repeat(STREAMS, () => read(`${url}?format=mp3`));
  },
  async 'ranges of one byte of an MP3'() {
    const url = await insist(`${media}/hour.m4a?bytes`);
    await repeat(STREAMS, () => {
      const at = Math.floor(Math.random() * HOUR_MP3_BYTES);
      return read(`${url}?format=mp3`, { headers: { range: `bytes=${at}-${at}` } });
    });
  },
  async 'streams at full speed'() {
    const url = await insist(`${media}/both.mp4?full`);
    await repeat(STREAMS, () => read(url));
  },
  async 'slow pages'() {
    await repeat(LINKS, (turn) => resolve(origin.url(`/slow/${turn}`)));
  },
  /** Links, streams and App, each reset shortly after it was sent. */
  async 'reset requests'() {
    const url = await insist(`${media}/both.mp4?reset`);
    await repeat(LINKS, (turn) => {
      const urls = [url, `${baseUrl}/api/App`, resolveUrl({ baseUrl }, `${media}/clip.mp4?${turn}`)];
      return read(urls[turn % urls.length] ?? url, { signal: AbortSignal.timeout(10 + (turn % 10) * 20) });
    });
  },
  async 'hostile manifests'() {
    const manifests = HOSTILE_LINKS.filter((link) => /\.(m3u8|mpd)$/.test(link.name));
    await repeat(LINKS, (turn) => resolve(origin.url(`/hostile/${manifests[turn % manifests.length]?.name}?${turn}`)));
  },
};

const origin = await startOrigin({
  mediaDir: '.',
  port: Number(originPort),
  mounts: {
    '/hostile/': serveHostileLinks(),
    // One byte a second, without end.
    '/slow/': ({ response, signal }) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      achieved += 1;
      const timer = setInterval(() => response.write(' '), 1000);
      signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    },
    '/': ({ response }) => void response.end(String(achieved)),
  },
});
async function repeat(concurrency: number, act: (turn: number) => Promise<number>): Promise<void> {
  let turns = 0;
  const loop = async () => {
    for (;;) {
      const status = await act(turns++).catch(() => 0);
      achieved += 1;
      if (status === 0 || status >= 400) await pause(REFUSED_PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
}

/** Reads a whole answer. @returns its status */
async function read(url: string, options: Parameters<typeof request>[1] = {}): Promise<number> {
  const response = await request(url, { ...options, localAddress });
  for await (const _ of response) achieved += 1;
  return response.statusCode ?? 0;
}

const resolve = (link: string) => read(resolveUrl({ baseUrl }, link));

/** Resolves until it succeeds: an attacker can wait. @returns the address of the best stream */
async function insist(link: string): Promise<string> {
  for (;;) {
    try {
      return await streamOf({ baseUrl }, link, { localAddress });
    } catch {
      await pause(200);
    }
  }
}

/** Requests without a pause, several ahead on each connection; a closed connection is opened again. */
function flood(): void {
  const { hostname: host, port, host: authority } = new URL(baseUrl);
  const ask = `GET /api/App HTTP/1.1\r\nhost: ${authority}\r\n\r\n`;
  const socket = connect({ host, port: Number(port), localAddress });
  socket.write(ask.repeat(PIPELINED));
  socket.on('data', (chunk) => {
    const answers = chunk.toString('latin1').match(/HTTP\/1\.1 \d+/g) ?? [];
    achieved += answers.length;
    if (socket.writable) socket.write(ask.repeat(answers.length));
  });
  socket.once('error', () => undefined);
  socket.once('close', flood);
}

await ATTACKS[name]?.();
