import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '@reelay/guarded-fetch/errors';
import { startYtDlp } from './supervisor.ts';
import type { KnownSites, YtDlp, YtDlpMode } from './tools.ts';
import { WorkerKilled } from './worker/worker-process.ts';
import type { WorkerRequest, WorkerResponse } from './worker/worker-protocol.ts';

interface SmokeTestOptions {
  /** Opens a proxy that connects only to this `host:port` on loopback. */
  readonly openProxy: (host: string) => Promise<{ readonly proxyUrl: string; close(): unknown }>;
  readonly signal?: AbortSignal | undefined;
  /** Called with why a yt-dlp that works does not solve JavaScript challenges, which YouTube needs. */
  readonly onUnsolvedChallenge?: (reason: string) => void;
}

/** A yt-dlp that works. */
export interface SmokeTestResult {
  readonly mode: YtDlpMode;
  readonly sites?: KnownSites | undefined;
}

const MEMORY_BYTES = 2 ** 30;
/** Time that each request may take. */
const TIMEOUT_SECONDS = 20;
/** For a worker that is killed from outside meanwhile. */
const MAX_ATTEMPTS = 3;

/**
 * Checks that a version of yt-dlp works on this machine, as a warm worker or else as one process per link: it starts,
 * resolves a link, and reports a 404, both through its proxy; a worker also solves a JavaScript challenge. The plugin
 * interface of yt-dlp, which the worker needs, is not stable between versions; its command line is.
 * @throws Error in one line when it works in neither mode
 */
export async function smokeTestYtDlp(ytDlp: YtDlp, options: SmokeTestOptions): Promise<SmokeTestResult> {
  try {
    return { mode: 'worker', sites: await testRepeatedly('worker', ytDlp, options) };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof WorkerKilled || error instanceof IncompleteRelease) throw error;
    try {
      await testRepeatedly('process-per-link', ytDlp, options);
      return { mode: 'process-per-link' };
    } catch (secondError) {
      options.signal?.throwIfAborted();
      throw new Error(`${messageOf(error)}; as a process per link: ${messageOf(secondError)}`, { cause: secondError });
    }
  }
}

async function testRepeatedly(mode: YtDlpMode, ytDlp: YtDlp, options: SmokeTestOptions) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await testOnce(mode, ytDlp, options);
    } catch (error) {
      // Being killed says nothing about this version.
      if (!(error instanceof WorkerKilled) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function testOnce(mode: YtDlpMode, ytDlp: YtDlp, options: SmokeTestOptions): Promise<KnownSites | undefined> {
  const { openProxy, signal, onUnsolvedChallenge = () => undefined } = options;
  const origin = createServer((request, response) => {
    if (request.url !== '/clip.mp4') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 4 }).end('mp4!');
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
  try {
    const proxy = await openProxy(host);
    try {
      const worker = await startYtDlp(mode, { ytDlp, concurrency: 1, memoryBytes: MEMORY_BYTES, signal });
      const request = async (path: string, player?: WorkerRequest['player']) => {
        const answer = await worker.request({
          url: `http://${host}${path}`,
          timeoutSeconds: TIMEOUT_SECONDS,
          proxy: proxy.proxyUrl,
          flat: true,
          playlistLimit: 1,
          player,
        });
        if (!answer.ok && answer.error.isInterrupted) throw new WorkerKilled('yt-dlp was killed during its smoke test');
        return answer;
      };
      try {
        checkFound(await request('/clip.mp4'), `http://${host}/clip.mp4`);
        checkMissing(await request('/missing'));
        if (mode === 'worker') await testChallenge(request, ytDlp, onUnsolvedChallenge);
        return worker.sites;
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

function checkFound(answer: WorkerResponse, url: string): void {
  if (!answer.ok) throw new Error(`it does not resolve a plain file: ${answer.error.kind}`);
  const { formats } = ('info' in answer ? answer.info : {}) as { formats?: { url?: unknown }[] };
  if (formats?.[0]?.url !== url) throw new Error('it does not offer a plain file as its own format');
}

function checkMissing(answer: WorkerResponse): void {
  if (answer.ok) throw new Error('it resolves a file that does not exist');
  const { kind, httpStatus } = answer.error;
  if (kind !== 'http' || httpStatus !== 404) throw new Error(`it reports a 404 as ${kind} ${httpStatus ?? ''}`);
}

/** What yt-dlp-ejs looks for in a player of YouTube: a function that makes a URL, whose method transforms `n`. */
const PLAYER = `var _yt_player={};(function(g){var window=this;
g.Url=function(){this.values={}};
g.Url.prototype={set:function(k,v){this.values[k]=v},get:function(k){return this.values[k]},
clone:function(){return this},solve:function(){this.values.n=this.values.n.split("").reverse().join("")}};
g.open=function(a,k,s){var u=new g.Url;u.set("alr","yes");if(s)u.set(k,s);return u};
})(_yt_player);`;
const [CHALLENGE, SOLUTION] = ['abcdef', 'fedcba'];

/** A release of yt-dlp is incomplete: YouTube needs what it lacks. */
class IncompleteRelease extends Error {
  override readonly name = 'IncompleteRelease';
}

/**
 * Has yt-dlp solve a JavaScript challenge of an invented player. A yt-dlp that cannot do so still resolves links of other
 * sites, and later versions may look for other players: that is only reported, but a release that lacks its scripts fails.
 * @throws IncompleteRelease; WorkerKilled
 */
async function testChallenge(
  request: (path: string, player: WorkerRequest['player']) => Promise<WorkerResponse>,
  { source }: YtDlp,
  onUnsolved: (reason: string) => void,
): Promise<void> {
  const answer = await request('', { code: PLAYER, n: CHALLENGE });
  if (answer.ok) {
    const solution = 'info' in answer ? answer.info.n : undefined;
    if (solution !== SOLUTION) onUnsolved('its scripts do not read the player of the test');
    return;
  }
  const { kind, message = kind } = answer.error;
  const isOfficial = source === 'release' || source === 'pypi';
  if (kind === 'expected' && isOfficial) throw new IncompleteRelease(message);
  onUnsolved(message);
}
