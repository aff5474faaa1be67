import {
  listTrackKinds,
  type MovieFragment,
  parseFragmentSamples,
  parseSampleTable,
  parseTrackHeader,
  type Sample,
  type TrackHeader,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import type { LayoutSource, SourceIndex } from '../virtual-mp4/index.ts';
import type { ClipTrack } from './clip-window.ts';

/** The tracks of a file by kind. */
export interface FileTracks {
  readonly video?: TrackHeader;
  readonly audio?: TrackHeader;
}

/** Of one track in all fragments of a clip: four hours of video at 60 frames a second. */
const MAX_SAMPLES = 1_000_000;

/** Handler types (ISO/IEC 14496-12 §8.4.3). */
export type TrackKind = 'vide' | 'soun';

/**
 * The first track of each kind that a file has.
 * @throws UnsupportedMp4 when it has none of them, or one that is not supported
 */
export function parseFileTracks({ movie }: LayoutSource, kinds: readonly TrackKind[]): FileTracks {
  const present = listTrackKinds(movie);
  const parse = (kind: TrackKind) =>
    kinds.includes(kind) && present.includes(kind) ? parseTrackHeader(movie, kind) : undefined;
  const [video, audio] = [parse('vide'), parse('soun')];
  if (!video && !audio) throw new UnsupportedMp4('Neither video nor audio');
  return { video, audio };
}

/** The samples of a file with sample tables, of which a clip takes some. @throws UnsupportedMp4 */
export function sampledClipTrack(header: TrackHeader, source: SourceIndex, fileBytes: number): ClipTrack {
  const table = parseSampleTable(header.sampleTable);
  return {
    header,
    source,
    fileBytes,
    *samples(): Generator<Sample> {
      const cursor = table.cursor();
      while (cursor.next()) yield cursor;
    },
  };
}

/** The samples in some fragments of a file. @throws UnsupportedMp4 */
export function fragmentedClipTrack(
  header: TrackHeader,
  source: SourceIndex,
  fileBytes: number,
  fragments: readonly MovieFragment[],
): ClipTrack {
  const { id, fragmentDefaults: defaults } = header;
  if (!defaults) throw new UnsupportedMp4(`No trex for track ${id}`);
  return {
    header,
    source,
    fileBytes,
    *samples(): Generator<Sample> {
      let count = 0;
      for (const fragment of fragments) {
        for (const sample of parseFragmentSamples(fragment, id, defaults)) {
          count += 1;
          if (count > MAX_SAMPLES) throw new UnsupportedMp4('Too many samples');
          yield sample;
        }
      }
    },
  };
}
