import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { YtDlp } from '../tools.ts';
import { startWorker } from './worker-process.ts';
import type { WorkerResponse } from './worker-protocol.ts';

export interface SmokeTestOptions {
  /** A lease of the egress that admits this one `host:port` on loopback, and nothing else. */
  readonly openProxy: (host: string) => Promise<{ readonly proxyUrl: string; close(): unknown }>;
  readonly signal?: AbortSignal | undefined;
}

const MEMORY_BYTES = 2 ** 30;
/** Seconds for each of the two answers. */
const TIMEOUT = 20;

/**
 * Finds out whether a yt-dlp works as a worker here: it starts, tells what is behind a link, tells a 404 from it, and
 * does both through its proxy. Its plugin interface promises nothing from one version to the next.
 * @throws Error in one line
 */
export async function smokeTestYtDlp(ytDlp: YtDlp, { openProxy: lend, signal }: SmokeTestOptions): Promise<void> {
  const origin = createServer((request, response) => {
    if (request.url !== '/clip.mp4') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 4 }).end('mp4!');
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
  try {
    const lease = await lend(host);
    try {
      const worker = await startWorker({
        ...{ ytDlp, concurrency: 1, memoryBytes: MEMORY_BYTES },
        ...(signal && { signal }),
      });
      const ask = (path: string) =>
        worker.request({
          ...{ url: `http://${host}${path}`, timeoutSeconds: TIMEOUT, proxy: lease.proxyUrl },
          ...{ flat: true, playlistLimit: 1 },
        });
      try {
        checkFound(await ask('/clip.mp4'), `http://${host}/clip.mp4`);
        checkMissing(await ask('/missing'));
      } finally {
        await worker.close();
      }
    } finally {
      await lease.close();
    }
  } finally {
    origin.closeAllConnections();
    origin.close();
  }
}

function checkFound(answer: WorkerResponse, url: string): void {
  if (!answer.ok) throw new Error(`it does not resolve a plain file: ${answer.error.kind}`);
  const { formats } = answer.info as { formats?: { url?: unknown }[] };
  if (formats?.[0]?.url !== url) throw new Error('it does not name a plain file as its own format');
}

function checkMissing(answer: WorkerResponse): void {
  if (answer.ok) throw new Error('it resolves what is not there');
  const { kind, httpStatus } = answer.error;
  if (kind !== 'http' || httpStatus !== 404) throw new Error(`it tells a 404 as ${kind} ${httpStatus ?? ''}`);
}
