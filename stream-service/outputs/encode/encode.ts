import type { Source } from '@reelay/source';
import { conversions } from '../../../core/conversions/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import type { RequireFfmpeg } from '../../ffmpeg/index.ts';
import { needsRemux, openTrack } from '../../source/index.ts';
import { outputFormats, partOf, refusal } from '../output-formats.ts';
import type { Covers } from '../picture.ts';
import {
  type Opening,
  type PlannedOutput,
  type RenditionQuery,
  type Representation,
  unread,
} from '../representation.ts';
import { type EncodedName, encodedFormats, type SelectedSound } from './encoded-formats.ts';
import { audioEntity, type FrameInput, type FrameStreams, layoutBytes, sizedHead } from './frames/index.ts';

/** The audio of a rendition in another format, encoded by FFmpeg while it is sent. */
export interface EncodePlan extends PlannedOutput {
  readonly kind: 'encode';
  readonly format: EncodedName;
  /** With its audio track alone. */
  readonly found: KeyedRendition;
  readonly query: RenditionQuery;
}

/**
 * @param found with its audio track alone
 * @throws InvalidParameter when there is no such part
 */
export function planEncode(found: KeyedRendition, format: EncodedName, query: RenditionQuery): EncodePlan {
  const { resource, tracks } = found;
  const [track] = tracks;
  const { clip } = query;
  const { mimeType, fileExtension } = conversions[format];
  const frames = encodedFormats[format].layOut(resource, track, query);
  const isFile = !needsRemux(track);
  // A file of unknown size may turn out to have to be read from its beginning: then the conversion has no size either.
  const isSized = frames !== undefined && (!isFile || track.file !== undefined || track.sizeBytes !== undefined);
  return {
    kind: 'encode',
    format,
    found,
    query,
    // The ETag needs the build of FFmpeg, the cover, and the validator of a file.
    answersHead: false,
    head: {
      ...(isSized
        ? sizedHead(conversions[format], { ...frames, clip, entity: undefined })
        : { mimeType, fileExtension, clip, size: undefined }),
      acceptRanges: !isFile || resource.isLive ? 'none' : isSized ? 'bytes' : undefined,
    },
  };
}

/** What FFmpeg reads of a file first. */
const OPENING_RANGE = { first: 0, last: 64 * 1024 - 1 };

export interface EncodeDependencies {
  readonly requireFfmpeg: RequireFfmpeg;
  readonly covers: Covers;
  readonly frameStreams: FrameStreams;
}

/** Opening runs no encoder. @throws InvalidParameter, UnsupportedRendition, InMaintenance, CapacityExceeded */
export async function openEncode(
  { format, found, query }: EncodePlan,
  opening: Opening,
  { requireFfmpeg, covers, frameStreams }: EncodeDependencies,
): Promise<Representation> {
  const { session, openSource, isForHead } = opening;
  const { resource, tracks } = found;
  const [track] = tracks;
  const hasCover = query.hasTags && outputFormats[format].holds.includes('tags');
  // First, so that no upstream request is wasted while FFmpeg is missing or busy.
  const ffmpeg = await requireFfmpeg();
  if (!isForHead) frameStreams.requireRoom(session.client);
  // Open segments add nothing to the head.
  const isOpened = !isForHead || !needsRemux(track);
  const [source, cover] = await Promise.all([
    isOpened ? openTrack(openSource, found, track, session, { range: OPENING_RANGE }) : undefined,
    hasCover ? covers.find(resource, session) : undefined,
  ]);
  const input = { resource, track, source, ffmpeg, client: session.client };
  return openConversion(format, input, { ...query, cover }, frameStreams);
}

export interface EncodeInput extends Omit<FrameInput, 'source'> {
  /** Absent: segments that are not to be read. */
  readonly source: Source | undefined;
}

/**
 * The conversion of a track. Where the duration is known it has an exact size, and where the source is a file of known size, too, it can be
 * read at any offset; otherwise it is one sequential stream.
 * @throws InvalidParameter when there is no such part, UnsupportedRendition when the format needs a known length
 */
export function openConversion(
  name: EncodedName,
  { source, ...input }: EncodeInput,
  selected: SelectedSound,
  frameStreams: Pick<FrameStreams, 'ranged' | 'sequential'>,
): Representation {
  const { resource, track, ffmpeg } = input;
  const { clip } = selected;
  const format = encodedFormats[name];
  const file = source?.needsRemux === false ? source : undefined;
  const frames = file && file.size === undefined ? undefined : format.layOut(resource, track, selected);
  if (frames && file) {
    const entity = audioEntity(resource, track, file, ffmpeg);
    const read = frameStreams.ranged({ ...input, source: file }, frames.layout, frames.tag);
    return { ...sizedHead(conversions[name], { ...frames, entity, clip }), read };
  }
  if (clip) throw refusal(outputFormats[name], partOf(clip), ': it can only be read from its beginning');
  const sequence = frames ? { ...frames, encoding: frames.layout.encoding } : format.sequence?.(resource, selected);
  if (!sequence) throw refusal(outputFormats[name], 'source');
  const { mimeType, fileExtension } = conversions[name];
  return {
    mimeType,
    fileExtension,
    size: frames && layoutBytes(frames.layout),
    acceptRanges: 'none',
    read: source ? () => frameStreams.sequential({ ...input, source }, sequence) : unread,
  };
}
