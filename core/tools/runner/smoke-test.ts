import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../errors/index.ts';
import { startLinkProcesses } from '../process-per-link/index.ts';
import type { YtDlp, YtDlpMode } from '../tools.ts';
import { startWorker, WorkerKilled, type WorkerResponse, type WorkerSandbox } from '../worker/index.ts';
import { IncompleteRelease, testChallenge } from './challenge-test.ts';

export interface SmokeTestOptions {
  /** Opens a proxy that connects only to this `host:port` on loopback. */
  readonly openProxy: (host: string) => Promise<{ readonly proxyUrl: string; close(): unknown }>;
  readonly signal?: AbortSignal | undefined;
  /** Called with what confines the forks of a warm worker. */
  readonly onSandbox?: (sandbox: WorkerSandbox) => void;
  /** Called with why a yt-dlp that works does not solve JavaScript challenges, which YouTube needs. */
  readonly onUnsolvedChallenge?: (reason: string) => void;
}

const MEMORY_BYTES = 2 ** 30;
/** For each request. */
const TIMEOUT_SECONDS = 20;
/** For a worker that is killed from outside meanwhile. */
const MAX_ATTEMPTS = 3;

/**
 * Checks that a version of yt-dlp works on this machine, as a warm worker or else as one process per link: it starts,
 * resolves a link, and reports a 404, both through its proxy; a worker also solves a JavaScript challenge. The plugin interface of yt-dlp, which the worker needs, is not
 * stable between versions; its command line is.
 * @returns the mode in which it works
 * @throws Error in one line when it works in neither
 */
export async function smokeTestYtDlp(ytDlp: YtDlp, options: SmokeTestOptions): Promise<YtDlpMode> {
  try {
    await testRepeatedly(startWorker, ytDlp, options);
    return 'worker';
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof WorkerKilled || error instanceof IncompleteRelease) throw error;
    try {
      await testRepeatedly(startLinkProcesses, ytDlp, options);
      return 'process-per-link';
    } catch (secondError) {
      options.signal?.throwIfAborted();
      throw new Error(`${messageOf(error)}; as a process per link: ${messageOf(secondError)}`, { cause: secondError });
    }
  }
}

type Start = typeof startWorker;

async function testRepeatedly(start: Start, ytDlp: YtDlp, options: SmokeTestOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await testOnce(start, ytDlp, options);
    } catch (error) {
      // It says nothing about this version.
      if (!(error instanceof WorkerKilled) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function testOnce(start: Start, ytDlp: YtDlp, options: SmokeTestOptions): Promise<void> {
  const { openProxy, signal, onSandbox = () => undefined, onUnsolvedChallenge = () => undefined } = options;
  const origin = createServer((request, response) => {
    if (request.url !== '/clip.mp4') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 4 }).end('mp4!');
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
  try {
    const proxy = await openProxy(host);
    try {
      const worker = await start({ ytDlp, concurrency: 1, memoryBytes: MEMORY_BYTES, signal });
      if (worker.sandbox) onSandbox(worker.sandbox);
      const requestFor = (path: string) => ({
        ...{ url: `http://${host}${path}`, timeoutSeconds: TIMEOUT_SECONDS, proxy: proxy.proxyUrl },
        ...{ flat: true, playlistLimit: 1 },
      });
      const resolveLink = (path: string) => worker.request(requestFor(path));
      try {
        checkFound(await resolveLink('/clip.mp4'), `http://${host}/clip.mp4`);
        checkMissing(await resolveLink('/missing'));
        if (start === startWorker) await testChallenge(worker, ytDlp, requestFor(''), onUnsolvedChallenge);
      } finally {
        await worker.close();
      }
    } finally {
      await proxy.close();
    }
  } finally {
    origin.closeAllConnections();
    origin.close();
  }
}

function checkInterrupted(answer: WorkerResponse): void {
  if (!answer.ok && answer.error.isInterrupted) throw new WorkerKilled('yt-dlp was killed during its smoke test');
}

function checkFound(answer: WorkerResponse, url: string): void {
  checkInterrupted(answer);
  if (!answer.ok) throw new Error(`it does not resolve a plain file: ${answer.error.kind}`);
  const { formats } = ('info' in answer ? answer.info : {}) as { formats?: { url?: unknown }[] };
  if (formats?.[0]?.url !== url) throw new Error('it does not name a plain file as its own format');
}

function checkMissing(answer: WorkerResponse): void {
  checkInterrupted(answer);
  if (answer.ok) throw new Error('it resolves what is not there');
  const { kind, httpStatus } = answer.error;
  if (kind !== 'http' || httpStatus !== 404) throw new Error(`it tells a 404 as ${kind} ${httpStatus ?? ''}`);
}
