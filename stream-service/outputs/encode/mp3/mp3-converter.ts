import { conversions, MP3_BITRATE_KBPS, tagText } from '../../../../core/conversions/index.ts';
import { InvalidParameter } from '../../../../core/errors/index.ts';
import { fullId3Tag, id3Tag } from '../../../../core/media/id3/index.ts';
import type { Resource, Track } from '../../../../core/state/index.ts';
import { needsRemux } from '../../../source/index.ts';
import type { ConversionOptions, Converter } from '../converter.ts';
import {
  audioEntity,
  clipLayout,
  type FrameStreams,
  type Layout,
  mp3Encoding,
  promisedFrames,
  sizedHead,
} from '../frames/index.ts';

const { mimeType, fileExtension } = conversions.mp3;
const UNSIZED = { mimeType, fileExtension, size: undefined };

/**
 * Converts to MP3. Where the duration is known and the source is seekable, the conversion has an exact size and can be
 * read at any offset; otherwise it is one sequential stream.
 */
export const createMp3Converter = (streams: FrameStreams): Converter => ({
  describe(resource, track, { ffmpeg, ...options }) {
    const { clip } = options;
    const tag = tagOf(resource, options);
    const frames = framesOf(resource, track);
    const isFile = !needsRemux(track);
    // A file of unknown size may turn out not to be seekable: then the conversion has no size either.
    if (frames === undefined || (isFile && track.sizeBytes === undefined))
      return { ...UNSIZED, acceptRanges: resource.isLive ? 'none' : undefined, clip };
    // The validator of a file and the cover are part of the ETag, and may be unknown here.
    const isKnown = !isFile && !isCoverUnknown(options);
    const entity = ffmpeg && isKnown ? audioEntity(resource, track, { needsRemux: true }, ffmpeg) : undefined;
    return sizedHead(conversions.mp3, { layout: layoutOf(tag, frames, options), tag, entity, clip });
  },

  requireRoom: streams.requireRoom,

  open(resource, track, source, { ffmpeg, client, ...options }) {
    const { clip, bitrateKbps = MP3_BITRATE_KBPS } = options;
    const input = { resource, track, source, ffmpeg, client };
    const tag = tagOf(resource, options);
    const frames = source.isSeekable ? framesOf(resource, track) : undefined;
    if (frames === undefined) {
      if (clip) throw new InvalidParameter('A conversion of unknown duration cannot be clipped.');
      const read = () => streams.sequential(input, mp3Encoding(bitrateKbps), tag);
      return { ...UNSIZED, acceptRanges: 'none', read };
    }

    const layout = layoutOf(tag, frames, options);
    const entity = isCoverUnknown(options) ? undefined : audioEntity(resource, track, source, ffmpeg);
    return {
      ...sizedHead(conversions.mp3, { layout, tag, entity, clip }),
      read: streams.ranged(input, layout, tag),
    };
  },
});

const tagOf = (resource: Resource, { fullTag }: ConversionOptions): Buffer =>
  fullTag ? fullId3Tag(fullTag.text, fullTag.cover) : id3Tag(tagText(resource));

const isCoverUnknown = ({ fullTag }: ConversionOptions): boolean => fullTag !== undefined && !fullTag.cover;

/** The promised size includes the short tag. */
const framesOf = (resource: Resource, track: Track): number | undefined =>
  promisedFrames(resource, track, id3Tag(tagText(resource)).length);

/** @throws InvalidParameter for an empty clip */
const layoutOf = (tag: Buffer, frames: number, { clip, bitrateKbps = MP3_BITRATE_KBPS }: ConversionOptions): Layout =>
  clipLayout({ tagBytes: tag.length, encoding: mp3Encoding(bitrateKbps), frames }, clip);
