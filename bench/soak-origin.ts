import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createFaultHandler, type Fault, type FaultHandler } from '../test/origin/faults.ts';
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
  readonly connections: () => Promise<number>;
  close(): Promise<void>;
}

export async function startSoakOrigin(): Promise<SoakOrigin> {
  const bytes = readFileSync(join(MEDIA_DIR, 'clip.mp4'));
  const handlers = new Map<string, FaultHandler>();
  let recurrence: NodeJS.Timeout | undefined;

  const describe = (fault: string, base: string) => {
    handlers.get(fault)?.renew();
    const file = { url: `${base}/media/${fault}`, ext: 'mp4', protocol: 'http' };
    const formats = [{ ...file, format_id: 'both', vcodec: 'avc1.42c00d', acodec: 'mp4a.40.2', height: 180 }];
    return { info: { id: fault, title: fault, uploader: 'Soak', formats } };
  };

  const server = createServer((request, response) => {
    const [, place = '', fault = ''] = request.url?.split('/') ?? [];
    if (place === 'site-api') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(describe(fault, `http://${request.headers.host}`)));
      return;
    }
    const how = recurrence ? FAULTS[fault] : undefined;
    const handler = handlers.get(fault) ?? createFaultHandler({ bytes, fault: how });
    handlers.set(fault, handler);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    host,
    bytes,
    link: (fault) => `http://${host}/site/${fault}`,
    begin() {
      handlers.clear();
      recurrence = setInterval(() => handlers.clear(), RECURRENCE_MS);
    },
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    close: () =>
      new Promise((resolve) => {
        clearInterval(recurrence);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
