import type { FastifyInstance } from 'fastify';
import type { Log } from '../core/log/index.ts';
import type { State } from '../core/state/index.ts';
import type { Ffmpeg } from '../layers/tools/index.ts';
import { createMp3 } from './conversions/mp3/index.ts';
import { createFfmpegInputServer, createRequireFfmpeg } from './ffmpeg/index.ts';
import { buildApp, createFindRendition } from './http/index.ts';
import { createMux } from './mux/ffmpeg/index.ts';
import {
  type AdmissionLimits,
  createAdmission,
  createStreamSessions,
  noopObserver,
  type StreamObserver,
} from './sessions/index.ts';
import type { OpenSource } from './source/index.ts';

export interface StreamServiceOptions {
  readonly state: Pick<State, 'getResource' | 'touchResource'>;
  readonly openSource: OpenSource;
  /** As `openSource`, but never resolves again: for HEAD. Absent: HEAD says only what the table knows. */
  readonly peekSource?: OpenSource;
  /** Absent until the first install is done. */
  readonly ffmpeg: () => Ffmpeg | undefined;
  /** The activity in progress, if any: the title of a 503 while FFmpeg is not there. */
  readonly maintenance: () => Promise<string | undefined>;
  readonly limits: AdmissionLimits;
  /** Origins whose pages may read answers, or `*`. */
  readonly corsAllowedOrigins: readonly string[];
  /**
   * Proxies in front whose X-Forwarded-For is believed. One too many, and clients name their own address, and so escape
   * the bound on streams of one client.
   */
  readonly trustedProxies: number;
  /** Seconds that streams have to finish once `drain` is called. @default 30 */
  readonly drainSeconds?: number;
  /** Told what the streams do. @default nobody is */
  readonly meter?: StreamObserver;
  /** Adds what its host needs in front of the streams: routes, and hooks that see each request first. */
  readonly extend?: (app: FastifyInstance) => void;
  readonly log: Log;
}

/** Streams renditions. It does not listen: give it requests by `app.routing`, or call `app.listen`. */
export interface StreamService {
  readonly app: FastifyInstance;
  /** New streams are refused (503), those running may finish within the drain time, the rest are broken. */
  drain(): Promise<void>;
  /** Breaks what is still running and gives everything back. */
  close(): Promise<void>;
}

const DRAIN_SECONDS = 30;

/**
 * Connections that may wait for whoever listens to take them: with Node's 511 a rush of clients is dropped, and comes again
 * seconds later.
 */
export const LISTEN_BACKLOG = 4096;

export async function createStreamService(options: StreamServiceOptions): Promise<StreamService> {
  const { ffmpeg, drainSeconds = DRAIN_SECONDS, meter = noopObserver, log } = options;
  const loopback = await createFfmpegInputServer();
  const admission = createAdmission(options.limits);
  const visits = createStreamSessions(admission, meter);
  const app = buildApp({
    ...options,
    findRendition: createFindRendition(options),
    visits,
    mux: createMux({ loopback, admission, meter, log }),
    openMp3: createMp3({ ffmpeg, loopback, admission, meter, log }),
    requireFfmpeg: createRequireFfmpeg(options),
  });
  await app.ready();

  return {
    app,
    drain: () => visits.drain(drainSeconds),
    async close() {
      await visits.drain(0);
      await app.close();
      await loopback.close();
    },
  };
}
