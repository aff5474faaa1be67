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
/** Of the FFmpeg processes: a quarter stays for other clients. */
const CLIENT_SHARE = 0.75;

/** @param onRefused called for each refusal that a client is answered with */
export function createAdmission(
  { maxStreams, maxStreamsPerClient, maxFfmpeg }: AdmissionLimits,
  onRefused: (limit: RefusedBy) => void = () => undefined,
): Admission {
  const streamsOf = createCounts();
  const ffmpegsOf = createCounts();
  const maxFfmpegPerClient = Math.max(1, Math.floor(maxFfmpeg * CLIENT_SHARE));
  let streams = 0;
  let ffmpegs = 0;
  let draining = false;
  const idle = Promise.withResolvers<void>();

  const refuse = (limit: RefusedBy, error: Error): never => {
    onRefused(limit);
    throw error;
  };

  const leave = (client: string) => {
    streamsOf.add(client, -1);
    streams -= 1;
    if (draining && streams === 0) idle.resolve();
  };

  const isAtFfmpegShare = (client: string) => ffmpegsOf.get(client) >= maxFfmpegPerClient;
  const tryAcquireFfmpeg = (client: string) => {
    if (ffmpegs >= maxFfmpeg || isAtFfmpegShare(client)) return undefined;
    ffmpegs += 1;
    ffmpegsOf.add(client, 1);
    return once(() => {
      ffmpegs -= 1;
      ffmpegsOf.add(client, -1);
    });
  };

  return {
    acquireStream(client) {
      if (draining || streams >= maxStreams)
        refuse(draining ? 'shutdown' : 'streams', new CapacityExceeded('No slot for another stream'));
      if (streamsOf.get(client) >= maxStreamsPerClient)
        refuse(
          'streams of a client',
          new ClientLimitExceeded('The client has reached its limit of streams', CLIENT_RETRY_SECONDS),
        );
      streams += 1;
      streamsOf.add(client, 1);
      return once(() => leave(client));
    },
    acquireFfmpeg(client) {
      const release = tryAcquireFfmpeg(client);
      if (release) return release;
      if (ffmpegs < maxFfmpeg)
        refuse(
          'ffmpeg of a client',
          new ClientLimitExceeded('The client has reached its share of FFmpeg processes', CLIENT_RETRY_SECONDS),
        );
      return refuse('ffmpeg', new CapacityExceeded('No slot for another FFmpeg process'));
    },
    tryAcquireFfmpeg,
    streams: () => streams,
    ffmpegs: () => ffmpegs,
    drain() {
      draining = true;
      if (streams === 0) idle.resolve();
      return idle.promise;
    },
  };
}

/** Counts by client; a client without any takes no memory. */
function createCounts() {
  const counts = new Map<string, number>();
  const get = (client: string) => counts.get(client) ?? 0;
  return {
    get,
    add(client: string, change: number) {
      const count = get(client) + change;
      if (count > 0) counts.set(client, count);
      else counts.delete(client);
    },
  };
}

function once(act: () => void): Release {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}
