import { createHash } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { createDownload, type Download, type DownloadOptions } from '../../../web/src/download/download.ts';
import type { DownloadState } from '../../../web/src/download/download-state.ts';
import type { Sink } from '../../../web/src/download/sink.ts';
import { createFaultHandler, type Fault, type FaultHandler } from '../../origin/faults.ts';
import { afterFile } from '../../support/after-file.ts';

/** Bytes in which no two parts are equal. */
export function someBytes(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let value = seed;
  for (let index = 0; index < length; index++) {
    value = (Math.imul(value, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = value >>> 16;
  }
  return bytes;
}

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A server for one test file. @returns its base URL */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  afterFile(() => {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(resolve));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A sink that records its bytes and how it ended. */
export interface KeptSink extends Sink {
  readonly bytes: Buffer;
  readonly restarts: number;
  readonly ended: 'closed' | 'aborted' | undefined;
}

export function createKeptSink(write: (soFar: number) => void = () => undefined): KeptSink {
  let chunks: Uint8Array[] = [];
  let restarts = 0;
  let ended: KeptSink['ended'];
  return {
    kind: 'file',
    get bytes() {
      return Buffer.concat(chunks);
    },
    get restarts() {
      return restarts;
    },
    get ended() {
      return ended;
    },
    async write(bytes) {
      write(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
      chunks.push(bytes.slice());
    },
    async restart() {
      restarts++;
      chunks = [];
    },
    async close() {
      ended = 'closed';
    },
    async abort() {
      ended = 'aborted';
    },
  };
}

/** A download into a recording sink, with recorded delays instead of sleeps. */
export function setUp(url: string, changes: Partial<DownloadOptions> = {}) {
  const sink = createKeptSink();
  const waited: number[] = [];
  const phases: DownloadState['phase'][] = [];
  const download = createDownload({
    url,
    fileName: 'file.mp4',
    openSink: async () => sink,
    sleep: async (milliseconds, signal) => {
      waited.push(milliseconds / 1000);
      signal?.throwIfAborted();
    },
    ...changes,
  });
  download.state.subscribe(({ phase }) => {
    if (phases.at(-1) !== phase) phases.push(phase);
  });
  return { download, sink, waited, phases };
}

/** Waits until the state satisfies the predicate. */
export const until = (download: Download, wanted: (state: DownloadState) => boolean): Promise<boolean> =>
  vi.waitUntil(() => wanted(download.state.get()), { timeout: 60_000, interval: 5 });

/** The file of most tests. */
export const BYTES = someBytes(600_000);
export const DIGEST = digestOf(BYTES);

/** Serves `BYTES` with a fault. */
export async function serveBytes(fault?: Fault, options: { etag?: string | null } = {}) {
  const handler = createFaultHandler({ bytes: BYTES, ...(fault && { fault }), ...options });
  return { url: await serve(handler), handler };
}

/** The Range header of each request. */
export const rangesOf = ({ seen }: FaultHandler) => seen.map(({ range }) => range);
