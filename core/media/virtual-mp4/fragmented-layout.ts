import {
  box,
  FRAGMENTED_FILE_TYPE,
  fullBox,
  type TrackHeader,
  UnsupportedMp4,
  u32,
  u64,
  writeFragmentedMovie,
} from '../isobmff/index.ts';
import { patchFragment } from './fragment-patch.ts';
import {
  type FragmentIndex,
  type LayoutSource,
  parseIndexedTrack,
  type TimedFragment,
  timeFragments,
} from './indexed-source.ts';
import { type Layout, LayoutBuilder, type SourceIndex } from './layout.ts';

/**
 * libavformat, which Chromium and mpv use, reads the `mfra` at the end only of files where a `free` box before `moov` begins
 * with this text (`mov_read_free`).
 */
const INDEX_AT_END = box('free', Buffer.from('Anevia\x1a\x1a', 'latin1'), Buffer.alloc(8));
/** `referenced_size` of a `sidx` entry has 31 bits (ISO/IEC 14496-12 §8.16.3). */
const MAX_REFERENCED_BYTES = 0x7fff_ffff;

interface IndexedTrack {
  readonly header: TrackHeader;
  readonly index: FragmentIndex;
  readonly fragments: readonly TimedFragment[];
}

interface PlacedFragment {
  readonly source: SourceIndex;
  readonly fragment: TimedFragment;
  /** Offset from the first fragment of the output. */
  readonly offset: number;
}

/**
 * The layout of two fragmented files: their own fragments interleaved by time, one `sidx` for the video, and `mfra` for
 * both tracks.
 * @throws UnsupportedMp4
 */
export function layOutFragments(video: LayoutSource, audio: LayoutSource): Layout {
  const tracks = [indexedTrack(video, 'vide'), indexedTrack(audio, 'soun')] as const;
  const placed = interleave(tracks[0].fragments, tracks[1].fragments);
  const last = placed.at(-1);
  const mediaBytes = last ? last.offset + last.fragment.bytes : 0;
  const movie = writeFragmentedMovie(tracks.map(({ header, index }) => outputTrack(header, index)));
  const sidx = videoIndex(tracks[0].index, placed, mediaBytes);
  const layout = new LayoutBuilder();
  layout.addOwn(Buffer.concat([FRAGMENTED_FILE_TYPE, INDEX_AT_END, movie, sidx]));
  const mediaStart = layout.size;
  for (const { source, fragment } of placed) layout.addFragment(source, fragment.offset, fragment.bytes);
  layout.addOwn(randomAccess(placed, mediaStart));
  return layout.build([layoutTrack(tracks[0].header, 1), layoutTrack(tracks[1].header, 2)]);
}

const layoutTrack = ({ id: sourceId, fragmentDefaults }: TrackHeader, id: number) => ({
  sourceId,
  id,
  // A copy: a slice would keep the whole `moov` of the source in memory.
  fragmentDefaults: fragmentDefaults && Buffer.from(fragmentDefaults),
});

function indexedTrack(source: LayoutSource, kind: 'vide' | 'soun'): IndexedTrack {
  if (!source.fragments) throw new UnsupportedMp4('No segment index');
  const header = parseIndexedTrack(source, kind);
  const fragments = timeFragments(source.fragments, source.fileBytes);
  checkFirstFragment(header, source.fragments);
  return { header, index: source.fragments, fragments };
}

/** @throws UnsupportedMp4 when the first fragment could not be patched */
function checkFirstFragment(
  header: TrackHeader,
  { entries: [first], firstMoof: { box: moof, offset } }: FragmentIndex,
) {
  const sourceEnd = first ? first.offset + first.bytes : 0;
  patchFragment(moof, { track: layoutTrack(header, 1), sourceOffset: offset, offset, sourceEnd, sequence: 1 });
}

/** The header's duration, or that of all fragments. */
function outputTrack(header: TrackHeader, { entries, timescale }: FragmentIndex) {
  const units = entries.reduce((sum, { duration }) => sum + duration, 0);
  return { header, durationSeconds: header.durationSeconds ?? units / timescale };
}

/** Each fragment of the video, then the audio that begins before the video's next fragment. */
function interleave(video: readonly TimedFragment[], audio: readonly TimedFragment[]): readonly PlacedFragment[] {
  const placed: PlacedFragment[] = [];
  let offset = 0;
  let next = 0;
  const add = (source: SourceIndex, fragment: TimedFragment) => {
    placed.push({ source, fragment, offset });
    offset += fragment.bytes;
  };
  for (const [index, fragment] of video.entries()) {
    add(0, fragment);
    const until = video[index + 1]?.startSeconds ?? Number.POSITIVE_INFINITY;
    for (let sound = audio[next]; sound && sound.startSeconds < until; sound = audio[next]) {
      add(1, sound);
      next += 1;
    }
  }
  return placed;
}

/** One `sidx` only, for the video: ExoPlayer seeks by it and accepts no second one. */
function videoIndex({ timescale, startTime }: FragmentIndex, placed: readonly PlacedFragment[], mediaBytes: number) {
  const own = placed.filter(({ source }) => source === 0);
  const entries = own.map(({ fragment, offset }, index) => {
    const bytes = (own[index + 1]?.offset ?? mediaBytes) - offset;
    if (bytes > MAX_REFERENCED_BYTES) throw new UnsupportedMp4('Fragment too large');
    return u32(bytes, fragment.duration, fragment.accessPoint);
  });
  const count = u32(entries.length); // `reserved` and `reference_count`, 16 bits each
  return fullBox('sidx', 1, 0, u32(1, timescale), u64(startTime), u64(0), count, ...entries);
}

/** `mfra` (§8.8.9): where the fragments of both tracks begin. */
function randomAccess(placed: readonly PlacedFragment[], mediaStart: number): Buffer {
  const tables = ([0, 1] as const).map((source) => trackRandomAccess(source, placed, mediaStart));
  const tablesBytes = tables.reduce((sum, { length }) => sum + length, 0);
  // `mfro` (§8.8.11), 16 bytes, ends the file with the size of the whole `mfra`.
  return box('mfra', ...tables, fullBox('mfro', 0, 0, u32(8 + tablesBytes + 16)));
}

/** `tfra` (§8.8.10), version 1; numbers of `traf`, `trun` and sample of one byte each. */
function trackRandomAccess(source: SourceIndex, placed: readonly PlacedFragment[], mediaStart: number): Buffer {
  const own = placed.filter((each) => each.source === source);
  const rows = Buffer.alloc(own.length * 19, 1);
  for (const [index, { fragment, offset }] of own.entries()) {
    rows.writeBigUInt64BE(BigInt(fragment.time), index * 19);
    rows.writeBigUInt64BE(BigInt(mediaStart + offset), index * 19 + 8);
  }
  return fullBox('tfra', 1, 0, u32(source + 1, 0, own.length), rows);
}
