import type { ServerResponse } from 'node:http';
import { createSemaphore } from '@reelay/concurrency';
import type { ConversionName } from '../../core/conversions/index.ts';
import { CapacityExceeded, ClientLimitExceeded } from '../../core/errors/index.ts';
import { clientOf, createClientNames, limitedBy } from '../../core/http/index.ts';

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
type RefusedBy = 'streams' | 'streams of a client' | 'ffmpeg' | 'ffmpeg of a client' | 'shutdown';

/** Limits on concurrent streams and FFmpeg processes. */
export interface Admission {
  /** @throws CapacityExceeded at `maxStreams` or while draining, ClientLimitExceeded at `maxStreamsPerClient` */
  acquireStream(client: string): Release;
  /** @throws CapacityExceeded at `maxFfmpeg`, ClientLimitExceeded at the share of the client */
  acquireFfmpeg(client: string): Release;
  /** Undefined at either limit: for callers that can wait or do without. */
  tryAcquireFfmpeg(client: string): Release | undefined;
  /** Refuses new streams. Settles when the last running one has ended. */
  drain(): Promise<void>;
}

/** Retry-After for a client at its limit: one of its own streams has to end first. */
const CLIENT_RETRY_SECONDS = 10;
/** Retry-After while sessions are suspended. */
const SUSPENDED_RETRY_SECONDS = 600;
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
      const permit =
        streams.tryAcquire(client) ??
        refuseClient('streams of a client', 'The client has reached its limit of streams');
      return () => {
        permit.release();
        settleWhenIdle();
      };
    },
    acquireFfmpeg(client) {
      if (ffmpegs.held() >= maxFfmpeg) refuse('ffmpeg', new CapacityExceeded('No slot for another FFmpeg process'));
      const permit =
        ffmpegs.tryAcquire(client) ??
        refuseClient('ffmpeg of a client', 'The client has reached its share of FFmpeg processes');
      return permit.release;
    },
    tryAcquireFfmpeg: (client) => ffmpegs.tryAcquire(client)?.release,
    drain() {
      isDraining = true;
      settleWhenIdle();
      return idle.promise;
    },
  };
}

/** One response to one client, until it has ended or the client has disconnected. */
export interface StreamSession {
  /** What limits count: the name of the client, or of its IPv6 network; or its access key. */
  readonly client: string;
  /** Aborted when the session closes, however it ended. */
  readonly signal: AbortSignal;
  /** Runs a callback when the session closes; at once if it has. */
  onClose(callback: () => void): void;
  /** Reports a stream to the observer, when its status and first bytes are known: errors and HEAD do not count. */
  markStreaming(): void;
}

/** The sessions of all clients. */
export interface StreamSessions {
  /**
   * Takes a slot for the stream that `response` will carry.
   * @param address of the client
   * @param accessHeader value of `ACCESS_HEADER`: limits then count the access key
   * @throws CapacityExceeded, ClientLimitExceeded
   */
  open(address: string, response: ServerResponse, accessHeader?: string): StreamSession;
  /** Destroys the responses of the open sessions and refuses new ones with 503, until it is called with `undefined`. */
  suspend(reason: string | undefined): void;
  /** Refuses new sessions, waits for the open ones, and destroys the responses that are left after `seconds`. */
  drain(seconds: number): Promise<void>;
}

export function createStreamSessions(
  admission: Pick<Admission, 'acquireStream' | 'drain'>,
  observer: StreamObserver,
): StreamSessions {
  /** What ends the open sessions. */
  const ends = new Set<() => void>();
  const names = createClientNames();
  let suspendedFor: string | undefined;
  const destroyAll = () => {
    for (const end of ends) end();
  };

  const admit = (client: string) => {
    if (suspendedFor !== undefined) throw new CapacityExceeded(suspendedFor, SUSPENDED_RETRY_SECONDS);
    const held = names.hold(client);
    try {
      const release = admission.acquireStream(held.name);
      return { client: held.name, releases: [release, held.release] };
    } catch (error) {
      held.release();
      throw error;
    }
  };

  return {
    open(address, response, accessHeader) {
      const closed = new AbortController();
      const { client, releases } = admit(limitedBy(clientOf(address), accessHeader));
      const session = createSession(client, closed.signal, () => {
        // The connection may have carried earlier responses, and a finished response no longer has its socket.
        const { socket } = response;
        const before = socket?.bytesWritten ?? 0;
        session.onClose(observer.onStreamStart(() => (socket?.bytesWritten ?? before) - before));
      });
      const end = () => void response.destroy();
      ends.add(end);
      const close = () => closed.abort(new Error('The response has ended'));
      if (response.destroyed) close();
      else response.once('close', close);
      session.onClose(() => {
        ends.delete(end);
        for (const release of releases) release();
      });
      return session;
    },
    suspend(reason) {
      suspendedFor = reason;
      if (reason !== undefined) destroyAll();
    },
    async drain(seconds) {
      const timer = setTimeout(destroyAll, seconds * 1000);
      await admission.drain();
      clearTimeout(timer);
    },
  };
}

const createSession = (client: string, signal: AbortSignal, markStreaming: () => void): StreamSession => ({
  client,
  signal,
  onClose(callback) {
    if (signal.aborted) callback();
    else signal.addEventListener('abort', callback, { once: true });
  },
  markStreaming,
});

/**
 * Opens a session within another one, such as that of one entry of an archive. It closes with it at the latest, and is no
 * stream of its own.
 */
export function openChildSession({ client, signal }: Pick<StreamSession, 'client' | 'signal'>) {
  const closed = new AbortController();
  const close = () => {
    signal.removeEventListener('abort', close);
    closed.abort(new Error('Parent stream has ended'));
  };
  if (signal.aborted) close();
  else signal.addEventListener('abort', close);
  return { ...createSession(client, closed.signal, () => undefined), close };
}

/** Receives stream events, for metrics and idle detection. Calls must be fast and must not throw. */
export interface StreamObserver {
  /**
   * A stream is about to be sent: its status is 200 or 206 and its first bytes are available.
   * @param bytesSent so far, headers included
   * @returns called once when the stream has ended, however it ended
   */
  onStreamStart(bytesSent: () => number): () => void;
  onFfmpegFailure(): void;
  /** A conversion was opened. */
  onConversion?(format: ConversionName): void;
  /** A stream or an FFmpeg process was refused. */
  onRefused?(limit: RefusedBy): void;
}

/** Counts running streams, and the bytes of all. */
export function createStreamCounter() {
  const running = new Set<() => number>();
  let endedBytes = 0;
  return {
    running: (): number => running.size,
    bytes: (): number => [...running].reduce((sum, bytesSent) => sum + bytesSent(), endedBytes),
    onStreamStart(bytesSent: () => number) {
      running.add(bytesSent);
      return () => {
        running.delete(bytesSent);
        endedBytes += bytesSent();
      };
    },
  };
}

/** Ignores every event. */
export const noopObserver: StreamObserver = {
  onStreamStart: () => () => undefined,
  onFfmpegFailure: () => undefined,
};
