import { conversions } from '../../../core/conversions/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import { needsRemux } from '../../source/index.ts';
import type { PlannedOutput, RenditionQuery } from '../representation.ts';
import { type EncodedName, encodedFormats } from './formats.ts';
import { sizedHead } from './frames/index.ts';

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
