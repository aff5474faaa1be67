import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createSemaphore } from '@reelay/concurrency';
import type { FileSource, Source } from '@reelay/source';
import { nameOf } from '@reelay/source/names';
import type { Ffmpeg } from '@reelay/yt-dlp-worker';
import { CapacityExceeded, ClientLimitExceeded } from '../../../../core/errors/index.ts';
import type { Log } from '../../../../core/log/index.ts';
import type { Resource, Track } from '../../../../core/state/index.ts';
import type { FfmpegInputServer } from '../../../ffmpeg/index.ts';
import type { Admission, Release, StreamObserver } from '../../../sessions/index.ts';
import type { ComputedExtents } from '../../computed-extents.ts';
import type { Representation } from '../../representation.ts';
import { createAudioStarts, type EncoderOptions } from './audio-start.ts';
import { openFrameRangeEncoder, type Sequence, sequentialStream } from './frame-encoder.ts';
import { audioEntity, type FrameLayout, layoutBytes } from './frame-layout.ts';
import { rangedStream } from './ranged-stream.ts';

export interface FrameStreamsOptions {
  readonly inputServer: FfmpegInputServer;
  readonly admission: Pick<Admission, 'acquireFfmpeg' | 'tryAcquireFfmpeg'>;
  readonly observer: Pick<StreamObserver, 'onFfmpegFailure'>;
  readonly log: Log;
  /** Encoders at once, over all clients and formats. @default the cores this process may use */
  readonly parallelism?: number;
  /** Keeps blocks of sources and encoded units. */
  readonly extents: ComputedExtents;
}

/** An open track to convert. */
export interface FrameInput<S extends Source = Source> {
  readonly resource: Resource;
  readonly track: Track;
  readonly source: S;
  readonly ffmpeg: Ffmpeg;
  /** Whose share of encoders it uses. */
  readonly client: string;
}

/** Streams of encoded frames behind a tag or a header. All formats share encoders and memory. */
export interface FrameStreams {
  /** @throws CapacityExceeded, ClientLimitExceeded when a conversion for this client would be refused now */
  requireRoom(client: string): void;
  /** Reads any range of a conversion of known length. Opening it runs nothing. */
  ranged(input: FrameInput<FileSource>, layout: FrameLayout, tag: Buffer): Representation['read'];
  /** Reads a conversion from its beginning, of unknown length unless it has a layout. @throws CapacityExceeded once it is read */
  sequential(input: FrameInput, encoded: Sequence): Readable;
}

/** Clients that may wait for their first bytes, per encoder. */
const MAX_WAITING_PER_ENCODER = 16;

export function createFrameStreams(options: FrameStreamsOptions): FrameStreams {
  const { inputServer, admission, observer, log, extents, parallelism = availableParallelism() } = options;
  const starts = createAudioStarts();
  const slots = createEncoderSlots({
    parallelism,
    tryAcquireFfmpeg: admission.tryAcquireFfmpeg,
    maxWaiting: parallelism * MAX_WAITING_PER_ENCODER,
  });

  const encoderFor = ({ resource, track, client, ffmpeg: { path } }: FrameInput): EncoderOptions => ({
    path,
    client,
    inputServer,
    onFailure(stderr) {
      observer.onFfmpegFailure();
      log.warn('FFmpeg failed', { resource: resource.id, format: track.formatId, stderr });
    },
  });

  return {
    requireRoom: slots.requireRoom,
    ranged(input, layout, tag) {
      const { resource, track, source, ffmpeg, client } = input;
      const entity = audioEntity(resource, track, source, ffmpeg);
      const encoder = encoderFor(input);
      const shared = extents.share(nameOf([entity], 'units', layout.encoding), async () => source);
      return (first, last = layoutBytes(layout) - 1) =>
        rangedStream(first, last, {
          layout,
          tag,
          encode: openFrameRangeEncoder({
            source,
            entity,
            encoding: layout.encoding,
            encoder,
            extents,
            starts,
            shared,
            durationSeconds: track.durationSeconds ?? resource.durationSeconds,
          }),
          extents,
          shared,
          acquire: (signal, hasStarted) => slots.acquire(client, signal, hasStarted),
          parallelism,
        });
    },
    sequential: (input, encoded) =>
      sequentialStream({
        ...encoded,
        source: input.source,
        encoder: encoderFor(input),
        acquire: () => admission.acquireFfmpeg(input.client),
      }),
  };
}

/** Interval at which a waiting stream tries again to get an FFmpeg process. */
const RETRY_MS = 200;
/** Retry-After for a client with too many waiting streams. */
const CLIENT_RETRY_SECONDS = 10;

/** Slots for encoders. An encoder runs for about a second, however slow its client is, so waiting for a slot pays off. */
export interface EncoderSlots {
  /**
   * Waits for a slot: clients in turn, each first come, first served.
   * @param client whose share of the slots is used
   * @param hasStarted the client has received bytes, so that a refusal can no longer be answered: waits without limit
   * @throws CapacityExceeded unless the stream has started, when too many streams wait or other work runs every FFmpeg
   * process; the signal's reason when it aborts
   */
  acquire(client: string, signal: AbortSignal, hasStarted: boolean): Promise<Release>;
  /** @throws CapacityExceeded, ClientLimitExceeded when a stream of the client without a sent byte could not wait for a slot */
  requireRoom(client: string): void;
}

export interface EncoderSlotsOptions {
  /** Concurrent encoders. */
  readonly parallelism: number;
  /** Takes one of the instance's FFmpeg processes, if one is free. */
  readonly tryAcquireFfmpeg: (client: string) => Release | undefined;
  /** Streams without a sent byte that may wait for a slot. */
  readonly maxWaiting: number;
}

export function createEncoderSlots({ parallelism, tryAcquireFfmpeg, maxWaiting }: EncoderSlotsOptions): EncoderSlots {
  const slots = createSemaphore({ permits: parallelism });
  const maxWaitingPerClient = Math.ceil(maxWaiting / 2);
  let encoding = 0;

  const requireRoom = (client: string) => {
    if (slots.waiting() >= maxWaiting) throw new CapacityExceeded('Too many streams wait for an encoder');
    if (slots.waiting(client) >= maxWaitingPerClient)
      throw new ClientLimitExceeded('Too many streams of the client wait for an encoder', CLIENT_RETRY_SECONDS);
  };
  const enter = async (client: string, signal: AbortSignal, hasStarted: boolean) => {
    signal.throwIfAborted();
    if (!hasStarted) requireRoom(client);
    return (await slots.acquire(client, signal)).release;
  };

  return {
    requireRoom,
    async acquire(client, signal, hasStarted) {
      const leave = await enter(client, signal, hasStarted);
      try {
        let release = tryAcquireFfmpeg(client);
        while (!release) {
          // Other encoders end within seconds; muxers may run for hours.
          if (!hasStarted && encoding === 0) throw new CapacityExceeded('Other work runs every FFmpeg process');
          await delay(RETRY_MS, undefined, { signal });
          release = tryAcquireFfmpeg(client);
        }
        encoding += 1;
        const releaseFfmpeg = release;
        return () => {
          releaseFfmpeg();
          encoding -= 1;
          leave();
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}
