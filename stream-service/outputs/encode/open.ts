import { conversions } from '../../../core/conversions/index.ts';
import type { RequireFfmpeg } from '../../ffmpeg/index.ts';
import { needsRemux, openTrack, type Source } from '../../source/index.ts';
import type { Covers } from '../picture/index.ts';
import { type Opening, type Representation, unread } from '../representation.ts';
import { partOf, refusal, writers } from '../writers.ts';
import type { EncodeChoice, EncodedFormat } from './encoded-format.ts';
import { type EncodedName, encodedFormats } from './formats.ts';
import { audioEntity, type FrameInput, type FrameStreams, sizedHead } from './frames/index.ts';
import type { EncodePlan } from './plan.ts';

/** What FFmpeg reads of a file first. */
const OPENING_RANGE = { first: 0, last: 64 * 1024 - 1 };

export interface EncodeDependencies {
  readonly requireFfmpeg: RequireFfmpeg;
  readonly covers: Covers;
  readonly frameStreams: FrameStreams;
}

/** Opening runs no encoder. @throws InvalidParameter, UnsupportedRendition, InMaintenance, CapacityExceeded */
export async function openEncode(
  { format, found, choice }: EncodePlan,
  opening: Opening,
  { requireFfmpeg, covers, frameStreams }: EncodeDependencies,
): Promise<Representation> {
  const { session, openSource, isForHead } = opening;
  const { resource, tracks } = found;
  const [track] = tracks;
  const { fullTag } = choice;
  // First, so that no upstream request is wasted while FFmpeg is missing or busy.
  const ffmpeg = await requireFfmpeg();
  if (!isForHead) frameStreams.requireRoom(session.client);
  // Open segments add nothing to the head.
  const isOpened = !isForHead || !needsRemux(track);
  const [source, cover] = await Promise.all([
    isOpened ? openTrack(openSource, found, track, session, { range: OPENING_RANGE }) : undefined,
    fullTag && covers.find(resource, session),
  ]);
  const input = { resource, track, source, ffmpeg, client: session.client };
  return encode(format, input, { ...choice, fullTag: fullTag && { ...fullTag, cover } }, frameStreams);
}

export interface EncodeInput extends Omit<FrameInput, 'source'> {
  /** Absent: segments that are not to be read. */
  readonly source: Source | undefined;
}

/**
 * The conversion of a track. Where the duration is known and the source is seekable, it has an exact size and can be
 * read at any offset; otherwise it is one sequential stream.
 * @throws InvalidParameter when there is no such part, UnsupportedRendition when the format needs a known length
 */
export function encode(
  name: EncodedName,
  { source, ...input }: EncodeInput,
  choice: EncodeChoice,
  frameStreams: Pick<FrameStreams, 'ranged' | 'sequential'>,
): Representation {
  const { resource, track, ffmpeg } = input;
  const { clip } = choice;
  const format: EncodedFormat = encodedFormats[name];
  const frames = (source?.isSeekable ?? true) ? format.layOut(resource, track, choice) : undefined;
  if (frames) {
    const { layout, tag } = frames;
    const entity = audioEntity(resource, track, source ?? { needsRemux: true }, ffmpeg);
    const read = source ? frameStreams.ranged({ ...input, source }, layout, tag) : unread;
    return { ...sizedHead(conversions[name], { ...frames, entity, clip }), read };
  }
  if (!format.sequence) throw refusal(writers[name], 'source');
  if (clip) throw refusal(writers[name], partOf(clip), ': its duration is unknown');
  const { encoding, tag } = format.sequence(resource, choice);
  const { mimeType, fileExtension } = conversions[name];
  return {
    mimeType,
    fileExtension,
    size: undefined,
    acceptRanges: 'none',
    read: source ? () => frameStreams.sequential({ ...input, source }, encoding, tag) : unread,
  };
}
