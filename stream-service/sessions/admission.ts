import { createSemaphore, type Permit } from '../../core/concurrency/index.ts';
import { CapacityExceeded, ClientLimitExceeded } from '../../core/errors/index.ts';

export interface AdmissionLimits {
  /** Concurrent streams over all clients. */
  readonly maxStreams: number;
  /** Concurrent streams of one client address. */
  readonly maxStreamsPerClient: number;
  /** Concurrent FFmpeg processes. One client may run three quarters of them. */
  readonly maxFfmpeg: number;
}

/** Releases a slot. Further calls have no effect. */
export type Release = () => void;

/** Why a stream or an FFmpeg process was refused. */
export type RefusedBy = 'streams' | 'streams of a client' | 'ffmpeg' | 'ffmpeg of a client' | 'shutdown';

/** Limits on concurrent streams and FFmpeg processes. */
export interface Admission {
  /** @throws CapacityExceeded at `maxStreams` or while draining, ClientLimitExceeded at `maxStreamsPerClient` */
  acquireStream(client: string): Release;
  /** @throws CapacityExceeded at `maxFfmpeg`, ClientLimitExceeded at the share of the client */
  acquireFfmpeg(client: string): Release;
  /** Undefined at either limit: for callers that can wait or do without. */
  tryAcquireFfmpeg(client: string): Release | undefined;
  readonly streams: () => number;
  readonly ffmpegs: () => number;
  /** Refuses new streams. Settles when the last running one has ended. */
  drain(): Promise<void>;
}

/** Retry-After for a client at its limit: one of its own streams has to end first. */
const CLIENT_RETRY_SECONDS = 10;
/** A quarter of the FFmpeg processes stays for other clients. */
const CLIENT_SHARE = 0.75;

/** @param onRefused called for each refusal that a client is answered with */
export function createAdmission(
  { maxStreams, maxStreamsPerClient, maxFfmpeg }: AdmissionLimits,
  onRefused: (limit: RefusedBy) => void = () => undefined,
): Admission {
  const streams = createSemaphore({ permits: maxStreams, maxPerClient: maxStreamsPerClient });
  const maxFfmpegPerClient = Math.max(1, Math.floor(maxFfmpeg * CLIENT_SHARE));
  const ffmpegs = createSemaphore({ permits: maxFfmpeg, maxPerClient: maxFfmpegPerClient });
  let isDraining = false;
  const idle = Promise.withResolvers<void>();

  const refuse = (limit: RefusedBy, error: Error): never => {
    onRefused(limit);
    throw error;
  };
  const refuseClient = (limit: RefusedBy, message: string) =>
    refuse(limit, new ClientLimitExceeded(message, CLIENT_RETRY_SECONDS));
  const settleWhenIdle = () => {
    if (isDraining && streams.held() === 0) idle.resolve();
  };

  return {
    acquireStream(client) {
      const isFull = isDraining || streams.held() >= maxStreams;
      if (isFull) refuse(isDraining ? 'shutdown' : 'streams', new CapacityExceeded('No slot for another stream'));
      const permit: Permit =
        streams.tryAcquire(client) ??
        refuseClient('streams of a client', 'The client has reached its limit of streams');
      return () => {
        permit.release();
        settleWhenIdle();
      };
    },
    acquireFfmpeg(client) {
      if (ffmpegs.held() >= maxFfmpeg) refuse('ffmpeg', new CapacityExceeded('No slot for another FFmpeg process'));
      const permit: Permit =
        ffmpegs.tryAcquire(client) ??
        refuseClient('ffmpeg of a client', 'The client has reached its share of FFmpeg processes');
      return permit.release;
    },
    tryAcquireFfmpeg: (client) => ffmpegs.tryAcquire(client)?.release,
    streams: () => streams.held(),
    ffmpegs: () => ffmpegs.held(),
    drain() {
      isDraining = true;
      settleWhenIdle();
      return idle.promise;
    },
  };
}
