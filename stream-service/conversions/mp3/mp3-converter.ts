import { availableParallelism } from 'node:os';
import { conversions, MP3_BITRATE_KBPS, recordingText, tagText } from '../../../core/conversions/index.ts';
import { MP3_SAMPLE_RATE, MP3_SAMPLES_PER_FRAME } from '../../../core/conversions/mp3/index.ts';
import { InvalidParameter } from '../../../core/errors/index.ts';
import { fullId3Tag, id3Tag } from '../../../core/media/id3/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';
import type { Ffmpeg } from '../../../layers/tools/index.ts';
import type { ClipTimes, RepresentationHead } from '../../representation.ts';
import { needsRemux } from '../../source/index.ts';
import type { ConversionOptions, Converter, ConverterDependencies } from '../converter.ts';
import { createAudioStarts } from './audio-start.ts';
import { createBlockCache } from './block-cache.ts';
import type { EncoderOptions } from './encoder-options.ts';
import { createEncoderSlots } from './encoder-slots.ts';
import { mp3Entity, mp3Etag } from './etag.ts';
import { mp3Encoding } from './frame-encoding.ts';
import { openFrameRangeEncoder } from './frame-range-encoder.ts';
import { clipFrames, type Layout, layoutBytes, promisedFrames } from './layout.ts';
import { rangedStream } from './ranged-stream.ts';
import { sequentialStream } from './sequential-stream.ts';

export interface Mp3Options extends ConverterDependencies {
  /** Encoders at once, over all clients. @default the cores this process may use */
  readonly parallelism?: number;
  /** Bytes of sources kept in memory, over all clients. @default 64 MiB */
  readonly cacheBytes?: number;
}

const CACHE_BYTES = 64 * 1024 * 1024;
/** Clients that may wait for their first bytes, per encoder. */
const MAX_WAITING_PER_ENCODER = 16;

const { mimeType, fileExtension } = conversions.mp3;
const UNSIZED = { mimeType, fileExtension, size: undefined };

/**
 * Converts to MP3. Where the duration is known and the source is seekable, the conversion has an exact size and can be
 * read at any offset; otherwise it is one sequential stream.
 */
export function createMp3Converter(options: Mp3Options): Converter {
  const { inputServer, admission, observer, log, parallelism = availableParallelism() } = options;
  const cache = createBlockCache(options.cacheBytes ?? CACHE_BYTES);
  const starts = createAudioStarts();
  const slots = createEncoderSlots({
    parallelism,
    tryAcquireFfmpeg: admission.tryAcquireFfmpeg,
    maxWaiting: parallelism * MAX_WAITING_PER_ENCODER,
  });

  const encoderFor = (resource: Resource, track: Track, { path }: Ffmpeg): EncoderOptions => ({
    path,
    inputServer,
    onFailure(stderr) {
      observer.onFfmpegFailure();
      log.warn('FFmpeg failed', { resource: resource.id, format: track.formatId, stderr });
    },
  });

  return {
    describe(resource, track, { ffmpeg, ...options }) {
      const tag = tagOf(resource, options);
      const frames = framesOf(resource, track);
      const isFile = !needsRemux(track);
      // A file of unknown size may turn out not to be seekable: then the conversion has no size either.
      if (frames === undefined || (isFile && track.sizeBytes === undefined))
        return { ...UNSIZED, acceptRanges: resource.isLive ? 'none' : undefined, clip: options.clip };
      // The validator of a file and the cover are part of the ETag, and may be unknown here.
      const isKnown = !isFile && !isCoverUnknown(options);
      const entity = ffmpeg && isKnown ? mp3Entity(resource, track, { needsRemux: true }, ffmpeg) : undefined;
      return sizedHead(layoutOf(tag, frames, options), tag, entity, options.clip);
    },

    open(resource, track, source, { ffmpeg, client, ...options }) {
      const { clip, bitrateKbps = MP3_BITRATE_KBPS } = options;
      const encoder = encoderFor(resource, track, ffmpeg);
      const tag = tagOf(resource, options);
      const frames = source.isSeekable ? framesOf(resource, track) : undefined;
      if (frames === undefined) {
        if (clip) throw new InvalidParameter('A conversion of unknown duration cannot be clipped.');
        const encoding = mp3Encoding(bitrateKbps);
        const acquire = () => admission.acquireFfmpeg(client);
        const read = () => sequentialStream({ source, tag, encoding, encoder, acquire });
        return { ...UNSIZED, acceptRanges: 'none', read };
      }

      const layout = layoutOf(tag, frames, options);
      const audio = mp3Entity(resource, track, source, ffmpeg);
      const entity = isCoverUnknown(options) ? undefined : audio;
      return {
        ...sizedHead(layout, tag, entity, clip),
        read: (first, last = layoutBytes(layout) - 1) =>
          rangedStream(first, last, {
            layout,
            tag,
            encode: openFrameRangeEncoder({ source, entity: audio, encoding: layout.encoding, encoder, cache, starts }),
            acquire: (signal, patient) => slots.acquire(client, signal, patient),
            parallelism,
          }),
      };
    },
  };
}

const tagOf = (resource: Resource, { fullTag }: ConversionOptions): Buffer =>
  fullTag ? fullId3Tag(recordingText(resource), fullTag.cover) : id3Tag(tagText(resource));

const isCoverUnknown = ({ fullTag }: ConversionOptions): boolean => fullTag !== undefined && !fullTag.cover;

/** The promised size includes the short tag. */
const framesOf = (resource: Resource, track: Track): number | undefined =>
  promisedFrames(resource, track, id3Tag(tagText(resource)).length);

/** The layout of a conversion of so many frames, or of a part of it. @throws InvalidParameter when the part is empty */
function layoutOf(tag: Buffer, frames: number, { clip, bitrateKbps = MP3_BITRATE_KBPS }: ConversionOptions): Layout {
  const part = clip ? clipFrames(clip, frames) : { frames };
  if (!part) throw new InvalidParameter('The clip starts after the end of the media.');
  return { tagBytes: tag.length, encoding: mp3Encoding(bitrateKbps), ...part };
}

/** An open end is named by the duration, in whole seconds. */
function nameOf(clip: ClipTimes | undefined, { firstFrame = 0, frames }: Layout): ClipTimes | undefined {
  const end = ((firstFrame + frames) * MP3_SAMPLES_PER_FRAME) / MP3_SAMPLE_RATE;
  return clip && { ...clip, endSeconds: clip.endSeconds <= end ? clip.endSeconds : Math.round(end) };
}

const sizedHead = (
  layout: Layout,
  tag: Buffer,
  entity: string | undefined,
  clip: ClipTimes | undefined,
): RepresentationHead => ({
  mimeType,
  fileExtension,
  size: layoutBytes(layout),
  etag: entity && mp3Etag(entity, layout, tag),
  acceptRanges: 'bytes',
  clip: nameOf(clip, layout),
});
