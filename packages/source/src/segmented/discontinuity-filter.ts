import { appendChunk } from '@reelay/guarded-fetch';
import {
  counterparts,
  type FragmentTime,
  fragmentTimes,
  type InitTrack,
  indexContent,
  parseBoxes,
  parseInitTracks,
  renumberFragment,
  shiftFragment,
} from '@reelay/seekable-media/isobmff';
import { UpstreamError } from '../errors.ts';
import type { Filter } from '../read-ahead.ts';
import type { TrackSelection } from '../source.ts';

/**
 * Joins fragmented MP4 across discontinuities (an advertisement, the next DASH period) into one continuous file: FFmpeg
 * reads only the first sample description, and uses the times of fragments unchanged.
 */
export interface DiscontinuityFilter {
  /** The tracks whose encoding must not change. */
  selection: TrackSelection;
  /** For an initialization section: the first passes, an equivalent later one is dropped. */
  init(): Filter;
  /** For a segment. `startSeconds`: its start on the timeline, where timestamps may be discontinuous. */
  segment(startSeconds: number | undefined): Filter;
}

/** Timestamps that continue this close to the last end are continuous. */
const TOLERANCE_SECONDS = 0.1;
/** A `moof` lists the samples of a few seconds: this is enough for many hours. */
const MAX_BOX_BYTES = 4 * 1024 * 1024;
/** The kinds of tracks that a reader uses. */
export const HANDLER_TYPES = { all: ['vide', 'soun'], audio: ['soun'] } as const;
const EBML = 0x1a45dfa3;
const NONE: Buffer = Buffer.alloc(0);

/** Timestamps continue from those of the first segment. */
export function createDiscontinuityFilter(): DiscontinuityFilter {
  let tracks: readonly InitTrack[] | undefined;
  /** Ids in the output, by those that differ. */
  let ids: ReadonlyMap<number, number> = new Map();
  let isFirst = true;
  let hasMedia = false;
  let origin: number | undefined;
  /** Seconds added to timestamps. */
  let shift = 0;
  /** End of the latest fragment in the output, seconds, by track id. */
  const ends = new Map<number, number>();
  let pending: number | undefined;

  const readMoov = (moov: Buffer): Buffer => {
    const found = parseInitTracks(moov);
    const renumbered = tracks
      ? counterparts(tracks, found, HANDLER_TYPES[filter.selection])
      : new Map<number, number>();
    if (!renumbered || (!tracks && hasMedia)) throw new UpstreamError('Encoding changed at a discontinuity');
    ids = renumbered;
    if (tracks) return NONE;
    tracks = found;
    return moov;
  };

  const readMoof = (read: Buffer): Buffer => {
    const moof = ids.size === 0 ? read : renumberFragment(read, ids);
    const times = fragmentTimes(moof, tracks ?? []);
    if (pending !== undefined && times.length > 0) {
      const first = Math.min(...times.map(({ start }) => start));
      origin ??= first - pending;
      if (!isContinuous(times)) shift = Math.max(origin + pending, ...ends.values()) - first;
      pending = undefined;
    }
    for (const { id, end } of times) ends.set(id, end + shift);
    return shift === 0 ? moof : shiftFragment(moof, (id) => Math.round(shift * timescaleOf(id)));
  };

  const timescaleOf = (id: number) => tracks?.find((track) => track.id === id)?.timescale ?? 0;
  const isContinuous = (times: readonly FragmentTime[]) => {
    const known = times.filter(({ id }) => ends.has(id));
    const isNear = ({ id, start }: FragmentTime) => Math.abs(start + shift - (ends.get(id) ?? 0)) < TOLERANCE_SECONDS;
    return known.length > 0 && known.every(isNear);
  };

  const readers = {
    moov: readMoov,
    moof: readMoof,
    // The times in an index no longer apply; reading from the start needs none.
    sidx: (index: Buffer) => (pending === undefined && shift === 0 && ids.size === 0 ? index : withType(index, 'free')),
  };

  const readInit = (bytes: Buffer): Buffer => {
    const isMp4 = indexContent(bytes, 'file').children.some(({ type }) => type === 'moov');
    if (isWebm(bytes) && !isFirst) throw new UpstreamError('Discontinuity in WebM');
    const found = isMp4 ? createBoxFilter(readers).update(bytes) : bytes;
    const isLeftOut = isMp4 && !isFirst;
    isFirst = false;
    return isLeftOut ? NONE : found;
  };

  const filter: DiscontinuityFilter = {
    selection: 'all',
    init: () => collectInit(readInit),
    segment(startSeconds) {
      const walk = createBoxFilter(readers);
      let isStarted = false;
      return {
        update(chunk) {
          if (!isStarted) pending = startSeconds;
          isStarted = true;
          hasMedia = true;
          return walk.update(chunk);
        },
        final: walk.final,
      };
    },
  };
  return filter;
}

/** Whether the file that begins with these bytes is WebM, whose parts are not joined. */
export const isWebm = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32BE() === EBML;

/** Replaces an initialization section by what `read` returns. */
function collectInit(read: (bytes: Buffer) => Buffer): Filter {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    update(chunk) {
      appendChunk(chunks, chunk);
      bytes += chunk.length;
      if (bytes > MAX_BOX_BYTES) throw new UpstreamError('Initialization section exceeds the size limit');
      return NONE;
    },
    final: () => read(Buffer.concat(chunks, bytes)),
  };
}

type BoxReaders = Readonly<Record<string, (box: Buffer) => Buffer>>;

/** Replaces boxes of the given types by what their readers return; all other bytes pass as they arrive. */
function createBoxFilter(readers: BoxReaders): Filter {
  /** Bytes to pass before the next box. */
  let left = 0;
  const step: FilterStep = (rest) => {
    if (left > 0) {
      const out = rest.subarray(0, left);
      left -= out.length;
      return { count: out.length, out };
    }
    const [box] = parseBoxes(rest);
    if (!box && rest.length < 16) return rest.length + 1;
    const reader = box && readers[box.type];
    if (!box || !reader) {
      // Not a box: the rest is not MP4.
      left = box?.end ?? Number.POSITIVE_INFINITY;
      return step(rest);
    }
    if (box.end > MAX_BOX_BYTES) throw new UpstreamError(`Box ${box.type} of ${box.end} bytes exceeds the size limit`);
    return box.end > rest.length ? box.end : { count: box.end, out: reader(rest.subarray(0, box.end)) };
  };
  return createStepFilter(step);
}

/**
 * Processes the first part of some bytes.
 * @returns the bytes of the part, and its output; or how many bytes are needed for that
 */
export type FilterStep = (rest: Buffer) => { readonly count: number; readonly out: Buffer } | number;

/** Processes bytes part by part. `final` returns those of a last part that is incomplete. */
export function createStepFilter(step: FilterStep): Filter {
  const held: Buffer[] = [];
  let heldBytes = 0;
  /** Until so many bytes have arrived, those that are held are not looked at again. */
  let neededBytes = 0;
  return {
    update(chunk) {
      appendChunk(held, chunk);
      heldBytes += chunk.length;
      if (heldBytes < neededBytes) return NONE;
      let rest = held.length === 1 && held[0] ? held[0] : Buffer.concat(held, heldBytes);
      neededBytes = 0;
      const out: Buffer[] = [];
      while (rest.length > 0 && neededBytes === 0) {
        const done = step(rest);
        if (typeof done === 'number') neededBytes = done;
        else {
          rest = rest.subarray(done.count);
          out.push(done.out);
        }
      }
      held.splice(0, held.length, ...(rest.length > 0 ? [rest] : []));
      heldBytes = rest.length;
      return out.length === 1 && out[0] ? out[0] : Buffer.concat(out);
    },
    final: () => Buffer.concat(held, heldBytes),
  };
}

function withType(box: Buffer, type: string): Buffer {
  const renamed = Buffer.from(box);
  renamed.write(type, 4, 'latin1');
  return renamed;
}
