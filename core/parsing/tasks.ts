import { PlaylistError, scanHlsPlaylist } from '@reelay/seekable-media/hls';
import { hasEncryptedSampleEntry } from '@reelay/seekable-media/isobmff';
import { InvalidSegments, parseSegments, type SkipSegment } from '@reelay/seekable-media/parts/skipping';
import {
  InvalidSubtitles,
  readSubtitles,
  type SubtitleFormat,
  writeSubtitles,
} from '@reelay/seekable-media/text/subtitles';
import type { ManifestFacts } from '@reelay/seekable-media/timeline';
import type { ContainerRequest, ContainerResponse } from './container-reader.ts';
import { type ExtractedInfo, InvalidExtraction, parseExtraction } from './extraction.ts';
import type { ParsingTask } from './task.ts';

/** Every export is a task that the processes run. Plain objects, so that a bundle contains only those that it uses. */

/** Reads the container of a file. A file of a few bytes may cause an endless loop or exhaust the memory. */
export const READ_CONTAINER: ParsingTask<ContainerRequest, ContainerResponse> = { name: 'read container' };

/** Whether some bytes of a file have an encrypted MP4 sample entry. */
export const FIND_ENCRYPTED_ENTRY: ParsingTask<readonly Uint8Array[], boolean> = {
  name: 'find encrypted sample entry',
  run: (parts) => parts.some((part) => hasEncryptedSampleEntry(Buffer.from(part.buffer, part.byteOffset, part.length))),
};

/** What probing needs of one; undefined when it is none. */
export const SCAN_HLS_PLAYLIST: ParsingTask<Buffer, ManifestFacts | undefined> = {
  name: 'scan HLS playlist',
  run: (bytes) => scanHlsPlaylist(bytes.toString()),
  errors: [PlaylistError],
};

/** A subtitle file in another format. */
export const CONVERT_SUBTITLES: ParsingTask<{ readonly bytes: Buffer; readonly format: SubtitleFormat }, string> = {
  name: 'convert subtitles',
  run: ({ bytes, format }) => writeSubtitles(readSubtitles(bytes), format),
  errors: [InvalidSubtitles],
};

/** The cues of a subtitle file, as JSON. */
export const READ_CUES: ParsingTask<Buffer, string> = {
  name: 'read cues',
  run: (bytes) => JSON.stringify(readSubtitles(bytes)),
  errors: [InvalidSubtitles],
};

/** The segments of one video in an answer of a service. */
export const READ_SEGMENTS: ParsingTask<{ readonly bytes: Buffer; readonly videoId: string }, readonly SkipSegment[]> =
  {
    name: 'read segments',
    run: ({ bytes, videoId }) => parseSegments(bytes, videoId),
    errors: [InvalidSegments],
  };

/** An answer of the worker of yt-dlp. What it costs to parse a byte is a fraction of what a byte of other tasks does. */
export const PARSE_EXTRACTION: ParsingTask<Buffer, ExtractedInfo> = {
  name: 'parse extraction',
  run: parseExtraction,
  errors: [InvalidExtraction],
  weigh: ({ length }) => length / 4,
};
