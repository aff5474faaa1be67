import type { Ffmpeg } from '@reelay/yt-dlp-worker';
import type { FastifyInstance } from 'fastify';
import type { Egress } from '../core/egress/index.ts';
import type { Log } from '../core/log/index.ts';
import { closeParsing } from '../core/parsing/index.ts';
import type { Resolver } from '../core/resolve/index.ts';
import { createKeyLookup, type State } from '../core/state/index.ts';
import { createFfmpegInputServer, createRequireFfmpeg } from './ffmpeg/index.ts';
import { buildApp, createStalledClients } from './http/index.ts';
import {
  createArchiveJobs,
  createComputedExtents,
  createCovers,
  createEmbeddedSubtitles,
  createFrameStreams,
  createLayoutCaches,
  createMux,
  createOutputs,
  createSizeRecorder,
} from './outputs/index.ts';
import {
  type AdmissionLimits,
  createAdmission,
  createStreamSessions,
  noopObserver,
  type StreamObserver,
} from './sessions/index.ts';
import type { SourceOpeners } from './source/index.ts';
import { createSkipSegments } from './sponsorblock.ts';

/** What streams use of the opening of sources. Without `peekSource`, HEAD is answered from the state table alone; without `findFile`, lists are remuxed. */
type UsedOpeners = Pick<SourceOpeners, 'openSource' | 'listSegments' | 'inspectWindow'> &
  Partial<Pick<SourceOpeners, 'peekSource' | 'findFile' | 'isProbed' | 'store'>>;

export interface StreamServiceOptions extends UsedOpeners {
  readonly state: Pick<
    State,
    | 'getResource'
    | 'touchResource'
    | 'putExactSize'
    | 'getAttachment'
    | 'putAttachment'
    | 'getArchivedList'
    | 'touchArchivedList'
    | 'getArchiveProgress'
    | 'putArchiveProgress'
  >;
  /** Resolves entries of archives that are not stored. Absent: they are missing. */
  readonly resolve?: Resolver['resolve'];
  /** Absent until the first install is done. */
  readonly ffmpeg: () => Ffmpeg | undefined;
  /** The activity in progress, if any: the title of a 503 while FFmpeg is missing. */
  readonly maintenance: () => Promise<string | undefined>;
  readonly limits: AdmissionLimits;
  /** Origins whose pages may read responses, or `*`. */
  readonly corsAllowedOrigins: readonly string[];
  /**
   * Proxies in front whose X-Forwarded-For is trusted. One too many, and clients choose their own address, and so escape
   * the limit on streams of one client.
   */
  readonly trustedProxies: number;
  /** Seconds that streams have to finish once `drain` is called. @default 30 */
  readonly drainSeconds?: number;
  /** Milliseconds that a client may accept no byte of its stream before it ends. @default 60000 */
  readonly clientTimeoutMs?: number;
  /** Receives stream events. @default ignores them */
  readonly observer?: StreamObserver;
  /** Adds the host's own routes and hooks, which run before those of the streams. */
  readonly extend?: (app: FastifyInstance) => void;
  /** Base URL of the service that knows segments of videos. @default there are none */
  readonly sponsorblockUrl?: string;
  /** Sends requests to that service. */
  readonly request?: Egress['request'];
  readonly log: Log;
}

/** Streams renditions. It does not listen by itself: pass requests to `app.routing`, or call `app.listen`. */
interface StreamService {
  readonly app: FastifyInstance;
  /** Ends running streams and refuses new ones (503) for a reason, until it is called with `undefined`. */
  suspend(reason: string | undefined): void;
  /** Refuses new streams (503), waits `drainSeconds` for running ones, and destroys the rest. */
  drain(): Promise<void>;
  /** Destroys running streams and releases every resource. */
  close(): Promise<void>;
}

const DRAIN_SECONDS = 30;

/**
 * Backlog of the listening socket: with Node's default of 511 the connections of a rush of clients are dropped, and
 * retried seconds later.
 */
export const LISTEN_BACKLOG = 4096;

export async function createStreamService(options: StreamServiceOptions): Promise<StreamService> {
  const { drainSeconds = DRAIN_SECONDS, observer = noopObserver, log } = options;
  const inputServer = await createFfmpegInputServer();
  const admission = createAdmission(options.limits, (limit) => observer.onRefused?.(limit));
  const sessions = createStreamSessions(admission, observer);
  const requireFfmpeg = createRequireFfmpeg(options);
  const openSource = options.peekSource ?? options.openSource;
  const archiveJobs = createArchiveJobs(options);
  const segments = createSkipSegments(options);
  const extents = createComputedExtents(options.store);
  const outputs = createOutputs({
    ...options,
    archiveJobs,
    segments,
    observer,
    requireFfmpeg,
    covers: createCovers({ ...options, openSource, inputServer, requireFfmpeg, admission }),
    embeddedSubtitles: createEmbeddedSubtitles(options),
    mux: createMux({ loopback: inputServer, admission, meter: observer, log }),
    extents,
    frameStreams: createFrameStreams({ inputServer, admission, observer, log, extents }),
    layouts: createLayoutCaches(),
    recordSize: createSizeRecorder(options),
  });
  const stalledClients = createStalledClients({ timeoutMs: options.clientTimeoutMs });
  const find = createKeyLookup(options);
  const app = buildApp({ ...options, find, sessions, outputs, segments, archiveJobs, stalledClients });
  await app.ready();

  return {
    app,
    suspend: sessions.suspend,
    async drain() {
      await sessions.drain(drainSeconds);
    },
    async close() {
      await sessions.drain(0);
      stalledClients.close();
      await app.close();
      await inputServer.close();
      await closeParsing();
    },
  };
}
