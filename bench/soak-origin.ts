import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFaultHandler, type Fault, type FaultHandler } from '../test/origin/faults.ts';
import { json } from '../test/origin/respond.ts';
import { startOrigin } from '../test/origin/server.ts';
import { MEDIA_DIR } from './media.ts';

const ALWAYS = Number.POSITIVE_INFINITY;

/** Consecutive failures of one fault: fewer than the reader's retries. */
const TIMES = 4;
/** Interval after which limited faults recur. */
const RECURRENCE_MS = 15_000;

/** Faults of a source. All but the last two must be recovered without affecting the client. */
export const FAULTS: Readonly<Record<string, Fault | undefined>> = {
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
export const HOPELESS: ReadonlySet<string> = new Set(['changed', 'dead']);

/** A site whose items all have the same file, each with a fault of its own. */
export interface SoakOrigin {
  readonly host: string;
  readonly bytes: Buffer;
  /** The page of an item. */
  link(fault: string): string;
  /** Enables the faults. */
  begin(): void;
  connections(): number;
  close(): Promise<void>;
}

export async function startSoakOrigin(): Promise<SoakOrigin> {
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
