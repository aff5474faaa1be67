import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createFaultHandler, type Fault, type FaultHandler } from '../../test/origin/faults.ts';
import { json } from '../../test/origin/respond.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { atRest, leftFigures } from '../at-rest.ts';
import { type StandaloneCase, startReelay } from '../bench.ts';
import { streamOf } from '../clients.ts';
import { median } from '../figures.ts';
import { MEDIA_DIR } from '../media.ts';

const CLIENTS = Number(process.env.SOAK_CLIENTS ?? 500);
const SECONDS = Number(process.env.SOAK_SECONDS ?? 120);
/** One of ten takes much, so that streams come to their end too. */
const SLOW = 40_000;
const FAST = 400_000;
const CONVERSIONS = 8;

interface Tally {
  complete: number;
  left: number;
  refused: number;
  broken: number;
  /** Streams that broke or were refused although the fault is recoverable, by fault. */
  readonly lost: Map<string, number>;
  /** Bytes that were not the source's, or an end before it. */
  wrong: number;
}

/** Hundreds of slow clients of sources that fail in every way: memory stays constant, and no resource leaks. */
export const soak: StandaloneCase = async function* () {
  const origin = await startSoakOrigin();
  const service = await startReelay(origin.host, { MAX_FFMPEG: String(CONVERSIONS) });
  try {
    const urls = new Map<string, string>();
    for (const fault of Object.keys(FAULTS)) urls.set(fault, await streamOf(service, origin.link(fault)));
    const before = await atRest(service);
    origin.begin();

    const tally: Tally = { complete: 0, left: 0, refused: 0, broken: 0, lost: new Map(), wrong: 0 };
    const over = new AbortController();
    const clients = Array.from({ length: CLIENTS }, (_, number) =>
      client({ number, urls, origin, tally, signal: over.signal }),
    );
    const resident: number[] = [];
    for (let second = 0; second < SECONDS; second += 1) {
      await pause(1000);
      resident.push(service.residentBytes());
    }
    over.abort();
    await Promise.all(clients);
    const after = await atRest(service);

    process.stderr.write(
      `${JSON.stringify({ ...tally, lost: Object.fromEntries(tally.lost), before, after, connections: origin.connections() })}\n`,
    );
    const quarter = Math.ceil(SECONDS / 4);
    const name = `soak, ${CLIENTS} clients for ${SECONDS} s`;
    const what = (text: string) => `${name}: ${text}`;
    yield {
      what: what('resident at its end'),
      ours: median(resident.slice(-quarter)) / 1e6,
      rival: median(resident.slice(quarter, 2 * quarter)) / 1e6,
      rivalName: 'after warm-up',
      unit: 'MB',
      atMost: 1.15,
    };
    yield {
      what: what('streams lost to faults that can be mended'),
      ours: [...tally.lost.values()].reduce((sum, count) => sum + count, 0),
      atMost: 0,
    };
    yield { what: what('streams with wrong bytes'), ours: tally.wrong, atMost: 0 };
    yield* leftFigures(name, before, after);
  } finally {
    await service.close();
    await origin.close();
  }
};

interface ClientOptions {
  readonly number: number;
  readonly urls: ReadonlyMap<string, string>;
  readonly origin: SoakOrigin;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/** Reads one stream after another at its rate, and closes some of them midway. */
async function client({ number, urls, origin, tally, signal }: ClientOptions): Promise<void> {
  const faults = [...urls];
  const asMp3 = number < CONVERSIONS;
  const rate = number % 10 === 9 ? FAST : SLOW;
  // Started one after another: a burst of new clients is not part of this case.
  await pause((number / CLIENTS) * (SECONDS / 8) * 1000);
  for (let round = number; !signal.aborted; round += 1) {
    const [fault, url] = faults[round % faults.length] ?? ['none', ''];
    const leaveAt = round % 4 === 1 ? 500_000 : Number.POSITIVE_INFINITY;
    const lose = (how: 'refused' | 'broken') => {
      tally[how] += 1;
      // A conversion that is refused at the limit of encoders does not count as lost.
      if (!HOPELESS.has(fault) && !asMp3)
        tally.lost.set(`${how} by ${fault}`, (tally.lost.get(`${how} by ${fault}`) ?? 0) + 1);
    };
    try {
      const answer = await ask(asMp3 ? `${url}?format=mp3` : url, signal);
      if (answer.statusCode !== 200) {
        answer.resume();
        lose('refused');
        await pause(1000);
        continue;
      }
      const begun = performance.now();
      let taken = 0;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        if (!asMp3 && !chunk.equals(origin.bytes.subarray(taken, taken + chunk.length))) tally.wrong += 1;
        taken += chunk.length;
        if (taken > leaveAt) break;
        await pause(Math.max((taken / rate) * 1000 - (performance.now() - begun), 0));
      }
      if (taken > leaveAt) tally.left += 1;
      else tally.complete += 1;
      if (!asMp3 && taken <= leaveAt && taken !== origin.bytes.length) tally.wrong += 1;
    } catch {
      if (!signal.aborted) lose('broken'); // else it is the end of the soak
    }
  }
}

/** A connection of its own for each stream. */
async function ask(url: string, signal: AbortSignal): Promise<IncomingMessage> {
  const [answer] = await once(get(url, { agent: false, signal }), 'response');
  return answer;
}

const ALWAYS = Number.POSITIVE_INFINITY;

/** Consecutive failures of one fault: fewer than the reader's retries. */
const TIMES = 4;
/** Interval after which limited faults recur. */
const RECURRENCE_MS = 15_000;

/** Faults of a source. All but the last two must be recovered without affecting the client. */
const FAULTS: Readonly<Record<string, Fault | undefined>> = {
  none: undefined,
  drop: { name: 'drop', after: 300_000, times: ALWAYS },
  stall: { name: 'stall', after: 700_000, times: TIMES },
  short: { name: 'short-body', by: 10_000, times: TIMES },
  range: { name: 'wrong-range', times: TIMES },
  'no-range': { name: 'ignore-range', length: true },
  strict: { name: 'strict', largest: 1024 * 1024 },
  throttle: { name: 'throttle', bytesPerSecond: 1_000_000 },
  reset: { name: 'reset', times: TIMES },
  slow: { name: 'slow-start', milliseconds: 200 },
  busy: { name: 'status', status: 503, times: TIMES },
  expired: { name: 'expire', from: 60, status: 403 },
  changed: { name: 'changed', from: 40, by: 'tag' },
  dead: { name: 'status', status: 500, times: ALWAYS },
};

/** Unrecoverable faults: an error status or a broken connection is correct. */
const HOPELESS: ReadonlySet<string> = new Set(['changed', 'dead']);

/** A site whose items all have the same file, each with a fault of its own. */
interface SoakOrigin {
  readonly host: string;
  readonly bytes: Buffer;
  /** The page of an item. */
  link(fault: string): string;
  /** Enables the faults. */
  begin(): void;
  connections(): number;
  close(): Promise<void>;
}

async function startSoakOrigin(): Promise<SoakOrigin> {
  const bytes = readFileSync(join(MEDIA_DIR, 'clip.mp4'));
  const handlers = new Map<string, FaultHandler>();
  let recurrence: NodeJS.Timeout | undefined;

  const origin = await startOrigin({
    mediaDir: MEDIA_DIR,
    mounts: {
      '/site-api/': (exchange) => {
        const { path: fault, url } = exchange;
        handlers.get(fault)?.renew();
        const file = { url: `${url.origin}/media/${fault}`, ext: 'mp4', protocol: 'http' };
        const formats = [{ ...file, format_id: 'both', vcodec: 'avc1.42c00d', acodec: 'mp4a.40.2', height: 180 }];
        json(exchange, { info: { id: fault, title: fault, uploader: 'Soak', formats } });
      },
      '/media/': ({ path: fault, request, response }) => {
        const handler = handlers.get(fault) ?? createFaultHandler({ bytes, fault: recurrence && FAULTS[fault] });
        handlers.set(fault, handler);
        handler(request, response);
      },
    },
  });

  return {
    host: origin.host,
    bytes,
    link: (fault) => origin.url(`/site/${fault}`),
    begin() {
      handlers.clear();
      recurrence = setInterval(() => handlers.clear(), RECURRENCE_MS);
    },
    connections: () => origin.connections,
    close() {
      clearInterval(recurrence);
      return origin.close();
    },
  };
}
