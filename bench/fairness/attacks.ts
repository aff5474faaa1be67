import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { HOSTILE_LINKS } from '../../test/attacks/hostile-links.ts';
import { HOSTILE_FILES } from './hostile-files.ts';
import { type RawAnswer, rawGet, resolvedPath } from './raw-request.ts';

/** What an attack is directed at, and where it comes from. */
interface AttackTarget {
  /** `host:port` of the service, of a server of large media, and of the origin of this attack. */
  readonly service: string;
  readonly media: string;
  readonly origin: string;
  /** Address of the hostile client. */
  readonly from: string;
  /** Counts something that was achieved. */
  count(what: string, amount?: number): void;
}

/** Attacks until its process is ended. */
type Attack = (target: AttackTarget) => Promise<unknown>;

/** Loops side by side. A refusal is immediate: without a pause the attack would only take its own processor. */
const REFUSED_PAUSE_MS = 20;
async function repeat(
  concurrency: number,
  { count }: AttackTarget,
  act: (turn: number) => Promise<RawAnswer | undefined>,
) {
  let turns = 0;
  const loop = async () => {
    for (;;) {
      try {
        const answer = await act(turns++);
        count(String(answer?.status ?? 'done'));
        if (answer && answer.status >= 400) await pause(REFUSED_PAUSE_MS);
      } catch (error) {
        count(error instanceof Error ? error.name : 'failed');
        await pause(REFUSED_PAUSE_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
}

/** Resolves until it succeeds: an attacker can wait. */
async function insist(target: AttackTarget, link: string): Promise<string> {
  for (;;) {
    const path = await resolvedPath(target.service, link, target).catch(() => undefined);
    if (path) return path;
    await pause(200);
  }
}

/** Counts the bytes received. */
const counted = (target: AttackTarget) => ({ ...target, onBytes: (bytes: number) => target.count('bytes', bytes) });

const FLOOD_CONNECTIONS = 64;
const PIPELINED = 8;
const UNREAD_REQUESTS = 60_000;
const STREAMS = 20;
const LINKS = 24;
const HOUR_MP3_BYTES = 86_000_000;

/** Each by one client. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  /** Requests without a pause, several ahead on each connection; a closed connection is opened again. */
  async 'flood of /api/App'({ service, from, count }) {
    const [host, port] = service.split(':');
    const request = `GET /api/App HTTP/1.1\r\nhost: ${service}\r\n\r\n`;
    const open = () => {
      const socket = connect({ host, port: Number(port), localAddress: from });
      socket.write(request.repeat(PIPELINED));
      socket.on('data', (chunk) => {
        const answers = chunk.toString('latin1').match(/HTTP\/1\.1 \d+/g) ?? [];
        for (const answer of answers) count(answer.slice(-3));
        if (socket.writable) socket.write(request.repeat(answers.length));
      });
      socket.once('error', () => undefined);
      socket.once('close', () => {
        count('connections closed');
        open();
      });
    };
    for (let connection = 0; connection < FLOOD_CONNECTIONS; connection += 1) open();
  },

  /** 3 MB of requests on each connection, of which no answer is read; a closed connection is opened again. */
  async 'requests whose answers are not read'({ service, from, count }) {
    const [host, port] = service.split(':');
    const requests = `GET /api/App HTTP/1.1\r\nhost: ${service}\r\n\r\n`.repeat(UNREAD_REQUESTS);
    const open = () => {
      count('connections');
      const socket = connect({ host, port: Number(port), localAddress: from });
      socket.write(requests);
      socket.once('error', () => undefined);
      socket.once('close', open);
    };
    open();
  },

  async 'conversions to MP3'(target) {
    const path = await insist(target, `http://${target.media}/hour.m4a?whole`);
    await repeat(STREAMS, target, () => rawGet(target.service, `${path}?format=mp3`, counted(target)));
  },

  async 'one byte of an MP3'(target) {
    const path = await insist(target, `http://${target.media}/hour.m4a?bytes`);
    await repeat(STREAMS, target, async () => {
      const at = Math.floor(Math.random() * HOUR_MP3_BYTES);
      return rawGet(target.service, `${path}?format=mp3`, { ...target, headers: { range: `bytes=${at}-${at}` } });
    });
  },

  async 'streams at full speed'(target) {
    const path = await insist(target, `http://${target.media}/both.mp4?full`);
    await repeat(STREAMS, target, () => rawGet(target.service, path, counted(target)));
  },

  async 'slow pages'(target) {
    await repeat(LINKS, target, (turn) => resolve(target, `http://${target.origin}/slow/${turn}`));
  },

  /** Links, streams and App, each reset shortly after it was sent. */
  async 'reset requests'(target) {
    const stream = await insist(target, `http://${target.media}/both.mp4?reset`);
    await repeat(LINKS, target, (turn) => {
      const signal = AbortSignal.timeout(10 + (turn % 10) * 20);
      const options = { ...target, signal };
      if (turn % 3 === 0) return rawGet(target.service, stream, options);
      if (turn % 3 === 1) return rawGet(target.service, '/api/App', options);
      return resolve(target, `http://${target.media}/clip.mp4?${turn}`, signal);
    });
  },

  async 'hostile manifests'(target) {
    const manifests = HOSTILE_LINKS.filter(({ name }) => /\.(m3u8|mpd)$/.test(name));
    await repeat(LINKS, target, (turn) => {
      const { name } = manifests[turn % manifests.length] ?? { name: '' };
      return resolve(target, `http://${target.origin}/hostile/${name}?${turn}`);
    });
  },

  /** Streams, clips and subtitles of files that take long to parse. */
  async 'hostile files'(target) {
    const names = Object.keys(HOSTILE_FILES);
    await repeat(LINKS, target, async (turn) => {
      const link = `http://${target.origin}/site/${names[turn % names.length]}?${turn}`;
      const path = await insist(target, link);
      const query = ['', '?start=1&end=2', '?subtitles=en', '?tags=full'][turn % 4];
      return rawGet(target.service, path + query, { ...target, signal: AbortSignal.timeout(30_000) });
    });
  },
};

const resolve = ({ service, from }: AttackTarget, link: string, signal?: AbortSignal) =>
  rawGet(service, `/api/Fetch/GetResource?${new URLSearchParams({ url: link })}`, {
    from,
    isText: true,
    ...(signal && { signal }),
  });
