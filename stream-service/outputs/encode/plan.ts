import type { Selection } from '../../../core/api/index.ts';
import { conversions, type ListPlace, recordingText } from '../../../core/conversions/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import { needsRemux } from '../../source/index.ts';
import type { PlannedOutput } from '../representation.ts';
import { writers } from '../writers.ts';
import type { EncodeChoice } from './encoded-format.ts';
import { type EncodedName, encodedFormats } from './formats.ts';
import { sizedHead } from './frames/index.ts';

/** The audio of a rendition in another format, encoded by FFmpeg while it is sent. */
export interface EncodePlan extends PlannedOutput {
  readonly kind: 'encode';
  readonly format: EncodedName;
  /** With its audio track alone. */
  readonly found: KeyedRendition;
  readonly choice: EncodeChoice;
}

/** What is selected of it. */
export interface EncodeQuery extends Pick<Selection, 'clip' | 'bitrateKbps' | 'hasTags'> {
  readonly listPlace?: ListPlace;
}

/**
 * @param found with its audio track alone
 * @throws InvalidParameter when there is no such part
 */
export function planEncode(
  found: KeyedRendition,
  format: EncodedName,
  { clip, bitrateKbps, hasTags, listPlace }: EncodeQuery,
): EncodePlan {
  const { resource, tracks } = found;
  const [track] = tracks;
  const hasRoom = writers[format].holds.includes('tags');
  const fullTag = hasTags && hasRoom ? { text: recordingText(resource, listPlace, clip) } : undefined;
  const choice: EncodeChoice = { clip, bitrateKbps, fullTag, title: listPlace?.chapterTitle };
  const { mimeType, fileExtension } = conversions[format];
  const frames = encodedFormats[format].layOut(resource, track, choice);
  // A file of unknown size may turn out not to be seekable: then the conversion has no size either.
  const isSized = frames !== undefined && (needsRemux(track) || track.sizeBytes !== undefined);
  return {
    kind: 'encode',
    format,
    found,
    choice,
    // The ETag needs the build of FFmpeg, the cover, and the validator of a file.
    answersHead: false,
    head: isSized
      ? sizedHead(conversions[format], { ...frames, clip, entity: undefined })
      : { mimeType, fileExtension, clip, size: undefined, acceptRanges: resource.isLive ? 'none' : undefined },
  };
}
