import { availableParallelism } from 'node:os';
import { problems } from '../../../core/api/index.ts';
import { tagText } from '../../../core/conversions/index.ts';
import type { Log } from '../../../core/log/index.ts';
import { id3Tag } from '../../../core/media/id3/index.ts';
import type { Ffmpeg } from '../../../layers/tools/index.ts';
import type { FfmpegInputServer } from '../../ffmpeg/index.ts';
import type { OpenMp3 } from '../../representation.ts';
import type { Admission, StreamObserver } from '../../sessions/index.ts';
import { createAudioStarts } from './audio-start.ts';
import { createBlockCache } from './block-cache.ts';
import { createEncoderSlots } from './encoder-slots.ts';
import { mp3Entity, mp3Etag } from './etag.ts';
import { openFrameRangeEncoder } from './frame-range-encoder.ts';
import { type Layout, layoutBytes, promisedFrames } from './layout.ts';
import { rangedStream } from './ranged-stream.ts';
import { sequentialStream } from './sequential-stream.ts';

export interface Mp3Options {
  /** Absent until it has been fetched. */
  readonly ffmpeg: () => Ffmpeg | undefined;
  readonly loopback: FfmpegInputServer;
  readonly admission: Pick<Admission, 'acquireFfmpeg' | 'tryAcquireFfmpeg'>;
  readonly meter: Pick<StreamObserver, 'onFfmpegFailure'>;
  readonly log: Log;
  /** Encoders at once, over all clients. @default the cores this process may use */
  readonly parallelism?: number;
  /** Bytes of sources kept in memory, over all clients. @default 64 MiB */
  readonly cacheBytes?: number;
}

const CACHE_BYTES = 64 * 1024 * 1024;
/** Clients that may wait for their first bytes, per encoder. */
const WAITING_PER_ENCODER = 16;
const MEDIA = { mimeType: 'audio/mpeg', fileExtension: '.mp3' };

/**
 * Conversions to MP3. Where the duration is known and the source can be read from any place, the conversion has an
 * exact size and can be read at any offset; else it is sent as it comes.
 *
 * Opening one runs nothing. @throws Problem 503 while FFmpeg is not there yet
 */
export function createMp3(options: Mp3Options): OpenMp3 {
  const { ffmpeg, loopback, admission, meter, log, parallelism = availableParallelism() } = options;
  const cache = createBlockCache(options.cacheBytes ?? CACHE_BYTES);
  const starts = createAudioStarts();
  const slots = createEncoderSlots({
    parallelism,
    tryAcquireFfmpeg: admission.tryAcquireFfmpeg,
    maxWaiting: parallelism * WAITING_PER_ENCODER,
  });

  return async (resource, track, source) => {
    const build = ffmpeg();
    if (!build) throw problems.maintenance('Downloading FFmpeg');
    const onFailure = (stderr: string) => {
      meter.onFfmpegFailure();
      log.warn('FFmpeg failed', { resource: resource.id, format: track.formatId, stderr });
    };
    const encoder = { path: build.path, loopback, onFailure };

    const tag = id3Tag(tagText(resource));
    const frames = source.isSeekable ? promisedFrames(resource, track, tag.length) : undefined;
    if (frames === undefined) {
      const read = () => sequentialStream({ source, tag, encoder, acquire: admission.acquireFfmpeg });
      return { ...MEDIA, size: undefined, etag: undefined, read };
    }

    const layout: Layout = { tagBytes: tag.length, frames };
    const size = layoutBytes(layout);
    const entity = mp3Entity(resource, track, source, build);
    return {
      ...MEDIA,
      size,
      etag: mp3Etag(entity, layout, tag),
      read: (first, last = size - 1) =>
        rangedStream(first, last, {
          layout,
          tag,
          encode: openFrameRangeEncoder({ source, entity, encoder, cache, starts }),
          acquire: slots.acquire,
          parallelism,
        }),
    };
  };
}
