import { conversions } from '../../../../core/conversions/index.ts';
import { WAV_FORMAT, wavSamples } from '../../../../core/conversions/wav/index.ts';
import { InvalidParameter, UnsupportedRendition } from '../../../../core/errors/index.ts';
import { wavHeader } from '../../../../core/media/wav/index.ts';
import type { Resource } from '../../../../core/state/index.ts';
import { needsRemux } from '../../../source/index.ts';
import type { ClipTimes } from '../../representation.ts';
import type { Converter } from '../converter.ts';
import {
  audioEntity,
  clipLayout,
  type FrameStreams,
  type Layout,
  layoutBytes,
  sizedHead,
  WAV_ENCODING,
} from '../frames/index.ts';

const SAMPLE_BYTES = (WAV_FORMAT.channels * WAV_FORMAT.bitsPerSample) / 8;

/** Converts to WAV of exact size, which a header with sizes needs: there is none of a live or unseekable source. */
export const createWavConverter = (streams: FrameStreams): Converter => ({
  describe(resource, track, { ffmpeg, clip }) {
    const { layout, header } = layOut(resource, clip);
    const isSegmented = needsRemux(track);
    // The validator of a file is part of the ETag, and unknown here.
    const entity = ffmpeg && isSegmented ? audioEntity(resource, track, { needsRemux: true }, ffmpeg) : undefined;
    return sizedHead(conversions.wav, { layout, tag: header, entity, clip });
  },

  requireRoom: streams.requireRoom,

  open(resource, track, source, { ffmpeg, client, clip }) {
    if (!source.isSeekable) throw new UnsupportedRendition('The source can only be read from its beginning.');
    const { layout, header } = layOut(resource, clip);
    const entity = audioEntity(resource, track, source, ffmpeg);
    return {
      ...sizedHead(conversions.wav, { layout, tag: header, entity, clip }),
      read: streams.ranged({ resource, track, source, ffmpeg, client }, layout, header),
    };
  },
});

/** @throws InvalidParameter for a live stream or an empty clip, UnsupportedRendition without a duration */
function layOut({ isLive, durationSeconds }: Resource, clip: ClipTimes | undefined) {
  if (isLive) throw new InvalidParameter('A live stream cannot be sent as WAV.');
  const samples = wavSamples(durationSeconds ?? 0);
  const dataBytes = samples * SAMPLE_BYTES;
  if (samples === 0 || !Number.isSafeInteger(2 * dataBytes))
    throw new UnsupportedRendition('The duration of the source is unknown.');
  const { frameBytes } = WAV_ENCODING;
  const frames = Math.ceil(dataBytes / frameBytes);
  const lastFrameBytes = dataBytes - (frames - 1) * frameBytes;
  const part = clipLayout({ tagBytes: 0, encoding: WAV_ENCODING, frames, lastFrameBytes }, clip);
  const header = wavHeader(layoutBytes(part), WAV_FORMAT);
  const layout: Layout = { ...part, tagBytes: header.length };
  return { layout, header };
}
