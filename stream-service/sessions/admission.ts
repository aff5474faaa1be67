import { CapacityExceeded, ClientLimitExceeded } from '../../core/errors/index.ts';

export interface AdmissionLimits {
  /** Concurrent streams over all clients. */
  readonly maxStreams: number;
  /** Concurrent streams of one client address. */
  readonly maxStreamsPerClient: number;
  /** Concurrent FFmpeg processes. */
  readonly maxFfmpeg: number;
}

/** Releases a slot. Further calls have no effect. */
export type Release = () => void;

/** Limits on concurrent streams and FFmpeg processes. */
export interface Admission {
  /** @throws CapacityExceeded at `maxStreams` or while draining, ClientLimitExceeded at `maxStreamsPerClient` */
  acquireStream(client: string): Release;
  /** @throws CapacityExceeded at `maxFfmpeg` */
  acquireFfmpeg(): Release;
  /** Undefined at `maxFfmpeg`: for callers that can wait or do without. */
  tryAcquireFfmpeg(): Release | undefined;
  readonly streams: () => number;
  readonly ffmpegs: () => number;
  /** Refuses new streams. Settles when the last running one has ended. */
  drain(): Promise<void>;
}

/** Retry-After for a client at its limit: one of its own streams has to end first. */
const CLIENT_RETRY_SECONDS = 10;

export function createAdmission({ maxStreams, maxStreamsPerClient, maxFfmpeg }: AdmissionLimits): Admission {
  const perClient = new Map<string, number>();
  let streams = 0;
  let ffmpegs = 0;
  let draining = false;
  const idle = Promise.withResolvers<void>();

  const leave = (client: string) => {
    const left = (perClient.get(client) ?? 0) - 1;
    if (left > 0) perClient.set(client, left);
    else perClient.delete(client);
    streams -= 1;
    if (draining && streams === 0) idle.resolve();
  };

  const tryAcquireFfmpeg = () => {
    if (ffmpegs >= maxFfmpeg) return undefined;
    ffmpegs += 1;
    return once(() => {
      ffmpegs -= 1;
    });
  };

  return {
    acquireStream(client) {
      const own = perClient.get(client) ?? 0;
      if (draining || streams >= maxStreams) throw new CapacityExceeded('No slot for another stream');
      if (own >= maxStreamsPerClient)
        throw new ClientLimitExceeded('The client has reached its limit of streams', CLIENT_RETRY_SECONDS);
      streams += 1;
      perClient.set(client, own + 1);
      return once(() => leave(client));
    },
    acquireFfmpeg() {
      const release = tryAcquireFfmpeg();
      if (!release) throw new CapacityExceeded('No slot for another FFmpeg process');
      return release;
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

function once(act: () => void): Release {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}
