import { availableParallelism } from 'node:os';
import type { Readable } from 'node:stream';
import type { FileSource, Source } from '@reelay/source';
import { nameOf } from '@reelay/source/names';
import type { Ffmpeg } from '@reelay/yt-dlp-worker';
import type { Log } from '../../../../core/log/index.ts';
import type { Resource, Track } from '../../../../core/state/index.ts';
import type { FfmpegInputServer } from '../../../ffmpeg/index.ts';
import type { Admission, StreamObserver } from '../../../sessions/index.ts';
import type { ComputedExtents } from '../../computed-extents.ts';
import type { Representation } from '../../representation.ts';
import { createAudioStarts } from './audio-start.ts';
import { createEncoderSlots } from './encoder-slots.ts';
import type { EncoderOptions } from './frame-encoding.ts';
import { audioEntity, type Layout, layoutBytes } from './layout.ts';
import { rangedStream } from './ranged-stream.ts';
import { openFrameRangeEncoder, type Sequence, sequentialStream } from './segment-encoder.ts';

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
  ranged(input: FrameInput<FileSource>, layout: Layout, tag: Buffer): Representation['read'];
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
