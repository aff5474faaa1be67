import type { MovieFragment } from '../isobmff/index.ts';
import { type PackedSource, unpackSource } from '../virtual-mp4/index.ts';
import { type ClipLayout, type ClipOptions, layOutClip } from './clip-layout.ts';
import type { ClipTimes } from './clip-window.ts';
import { fragmentedClipTrack, parseFileTracks, sampledClipTrack, type TrackKind } from './file-tracks.ts';
import { layOutOpus } from './opus-layout.ts';

/** A file of a clip, in a form that can be cloned fast. */
export interface ClipSource {
  readonly header: PackedSource;
  /** The tracks to take from it. */
  readonly kinds: readonly TrackKind[];
  /** Of a fragmented file: the fragments that may have samples of the clip. */
  readonly fragments?: PackedFragments;
}

/** The `moof` boxes of some fragments, one after the other. */
export interface PackedFragments {
  readonly bytes: Buffer;
  /** Of each: where it ends in `bytes`, and its offset in the file. */
  readonly ends: Float64Array;
  readonly offsets: Float64Array;
}

export function packFragments(fragments: readonly MovieFragment[]): PackedFragments {
  let end = 0;
  return {
    bytes: Buffer.concat(fragments.map(({ bytes }) => bytes)),
    ends: Float64Array.from(fragments, ({ bytes }) => {
      end += bytes.length;
      return end;
    }),
    offsets: Float64Array.from(fragments, ({ offset }) => offset),
  };
}

const unpackFragments = ({ bytes, ends, offsets }: PackedFragments): readonly MovieFragment[] =>
  Array.from(offsets, (offset, index) => ({ offset, bytes: bytes.subarray(ends[index - 1] ?? 0, ends[index]) }));

/**
 * The layout of a part of one file, or of two.
 * @throws UnsupportedMp4 when nothing is presented between start and end, and Error when a file is truncated
 */
export function layOutClipSources(
  sources: readonly ClipSource[],
  times: ClipTimes,
  options: ClipOptions = {},
): ClipLayout {
  const [{ video, audio } = {}, second] = sources.map((source, index) => clipTracks(source, index === 0 ? 0 : 1));
  const { container, tags } = options;
  if (container === 'ogg' && audio && tags) return layOutOpus(audio, times, tags);
  return layOutClip({ video, audio: second?.audio ?? audio }, times, options);
}

function clipTracks({ header, kinds, fragments: packed }: ClipSource, source: 0 | 1) {
  const { fileBytes } = header;
  const { video, audio } = parseFileTracks(unpackSource(header), kinds);
  const fragments = packed && unpackFragments(packed);
  const clipTrack = (track: typeof video) =>
    track &&
    (fragments ? fragmentedClipTrack(track, source, fileBytes, fragments) : sampledClipTrack(track, source, fileBytes));
  return { video: clipTrack(video), audio: clipTrack(audio) };
}
