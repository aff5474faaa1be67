import { problems } from '../../core/api/index.ts';

export interface AdmissionLimits {
  /** Streams at once in all. */
  readonly maxStreams: number;
  /** Streams at once of one client address. */
  readonly maxStreamsPerClient: number;
  /** FFmpeg processes at once. */
  readonly maxFfmpeg: number;
}

/** Gives a place back. Calling it again does nothing. */
export type Release = () => void;

/** Who may run: bounds on streams and on FFmpeg processes. */
export interface Admission {
  /** @throws Problem 503 when every place is taken or none is given any more, 429 when this client has its share */
  acquireStream(client: string): Release;
  /** @throws Problem 503 when every process is taken */
  acquireFfmpeg(): Release;
  /** A process more if one is free: for work that goes on without it. */
  tryAcquireFfmpeg(): Release | undefined;
  readonly streams: () => number;
  readonly ffmpegs: () => number;
  /** From now on nobody gets a place for a stream. Settles when the last one is given back. */
  drain(): Promise<void>;
}

/** Seconds a client that has its share is asked to wait: one of its own streams has to end. */
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
      if (draining || streams >= maxStreams) throw problems.noCapacity();
      if (own >= maxStreamsPerClient) throw problems.tooManyRequests(CLIENT_RETRY_SECONDS);
      streams += 1;
      perClient.set(client, own + 1);
      return once(() => leave(client));
    },
    acquireFfmpeg() {
      const release = tryAcquireFfmpeg();
      if (!release) throw problems.noCapacity();
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
