import {
  durationOf,
  type ManifestFacts,
  RelativeSection,
  type Segment,
  segmentAfterFirstMinute,
  type Timeline,
  trimGaps,
} from '../timeline.ts';
import { duration } from '../values.ts';
import {
  EncryptedPlaylist,
  hasWholeSeconds,
  IV_BYTES,
  isHlsPlaylist,
  ivOfSequence,
  MAX_SEGMENTS,
  MAX_URL_CHARS,
  PlaylistError,
} from './hls-lines.ts';
import { type HlsEntries, type HlsKey, type HlsRange, type HlsSegment, readHlsEntries } from './hls-reader.ts';

/** A media playlist lists segments; a master playlist lists other playlists, of which the best is selected. */
export type HlsPlaylist =
  | (Omit<Timeline, 'segments'> & { readonly kind: 'media'; readonly segments: Iterable<Segment> })
  | { readonly kind: 'master'; readonly bestUrl: string };

/** A playlist that was read, with URIs as written. */
export type PackedPlaylist =
  | { readonly kind: 'master'; readonly bestUri: string }
  | (Omit<Timeline, 'segments'> & {
      readonly kind: 'media';
      /** Undefined: there are none. */
      readonly segments: PackedHlsSegments | undefined;
    });

/** RFC 8216 §6.3.4 bases reloads on the target duration, which is required; some playlists lack it. */
const DEFAULT_TARGET_SECONDS = 6;

/** Reads an HLS playlist (RFC 8216 §4). @throws PlaylistError */
export function readHlsPlaylist(text: string, maxSegments: number): PackedPlaylist {
  if (!isHlsPlaylist(text)) throw new PlaylistError('Not an HLS playlist');
  const entries = readHlsEntries(text, maxSegments);
  const { segments, variants, isComplete, targetSeconds, discontinuitySequence } = entries;
  if (variants.length > 0) {
    const best = variants.reduce((a, b) => (b.bandwidth > a.bandwidth ? b : a));
    return { kind: 'master', bestUri: requireValidUri(best.uri) };
  }
  if (entries.isProtected) throw new EncryptedPlaylist('The playlist is protected by DRM');
  // A recording begins with its first media and ends with its last.
  const played = isComplete ? trimGaps(segments) : segments;
  const [first] = played;
  const mediaSequence = entries.mediaSequence + (first ? segments.indexOf(first) : 0);
  return {
    kind: 'media',
    segments: first && packSegments(played, { mediaSequence, targetSeconds }),
    isComplete,
    isRounded: isComplete && hasWholeSeconds(text),
    reloadSeconds: targetSeconds ?? DEFAULT_TARGET_SECONDS,
    discontinuitySequence,
  };
}

/**
 * A playlist that `readHlsPlaylist` has read. The URLs of segments are resolved when they are read: a playlist of 100,000
 * short URIs below a long URL does not become 100,000 long URLs.
 * @param url of the playlist after redirects: URIs in it are relative to this
 * @throws PlaylistError when the URL is too long
 */
export function unpackHlsPlaylist(packed: PackedPlaylist, url: string): HlsPlaylist {
  if (url.length > MAX_URL_CHARS) throw new PlaylistError('The URL of the playlist is too long');
  if (packed.kind === 'master') return { kind: 'master', bestUrl: URL.parse(packed.bestUri, url)?.href ?? '' };
  return { ...packed, segments: packed.segments ? unpackSegments(packed.segments, url) : [] };
}

/**
 * Extracts what probing needs of an HLS playlist (RFC 8216 §4.3), protected ones included.
 * @returns undefined when the text is not a playlist or names no segment
 * @throws PlaylistError when it is malformed or exceeds a limit: a stream of it would fail
 */
export function scanHlsPlaylist(text: string, maxSegments = MAX_SEGMENTS): ManifestFacts | undefined {
  if (!isHlsPlaylist(text)) return undefined;
  const entries = readHlsEntries(text, maxSegments);
  const { segments, variants, isComplete, mediaSequence, targetSeconds } = entries;
  const index = Math.max(
    0,
    segments.findIndex(({ isGap }) => !isGap),
  );
  const first = segments[index];
  const segment = (first ?? variants[0])?.uri;
  if (!segment) return undefined;
  const timed = isComplete
    ? segments.map((each) => ({ ...each, seconds: each.seconds ?? targetSeconds ?? Number.NaN }))
    : [];
  // Of DRM, segments have no key.
  const key = entries.isProtected ? entries.firstKey : first?.key;
  const later = segmentAfterFirstMinute(timed);
  return {
    durationSeconds: duration(durationOf(timed)),
    ...(isComplete && hasWholeSeconds(text) && { isRounded: true as const }),
    segment,
    initialization: first?.map?.uri,
    key: key?.uri,
    iv: ivOf(key, mediaSequence + index),
    ...(later && { later: { uri: later.uri, offset: later.range?.first ?? 0 } }),
  };
}

const ivOf = (key: HlsKey | undefined, sequence: number): Buffer | undefined =>
  key?.method === 'AES-128' ? (key.iv ?? ivOfSequence(sequence)) : undefined;

/**
 * The segments of a media playlist as a few texts and typed arrays: they pass from one process to another in a fraction of
 * the time that as many objects take. Line feeds separate the URIs of a text, which contain none.
 */
export interface PackedHlsSegments {
  readonly mediaSequence: number;
  readonly seconds: Float64Array;
  /** `GAP`, `DISCONTINUITY`. */
  readonly flags: Uint8Array;
  /** When each begins, epoch milliseconds; NaN: not stated. Undefined: the list states no times. */
  readonly startsAtMs: Float64Array | undefined;
  readonly content: PackedSections;
  /** Initialization sections. */
  readonly inits: PackedSections;
  /** By segment: the index of its initialization section; -1: none. */
  readonly initOf: Int32Array;
  readonly keyUris: string;
  /** 16 bytes of each key that has an initialization vector; the others use the sequence numbers of their segments. */
  readonly ivs: Uint8Array;
  readonly hasIv: Uint8Array;
}

interface PackedSections {
  readonly uris: string;
  /** The first and last byte of each; NaN: the whole file. Undefined: all of them are whole. */
  readonly ranges: Float64Array | undefined;
  /** By section: the index of its key; -1: none. Undefined: none has one. */
  readonly keyOf: Int32Array | undefined;
}

/** What a segment and an initialization section have in common. */
interface Section {
  readonly uri: string | undefined;
  readonly range: HlsRange | undefined;
  readonly key: HlsKey | undefined;
}

const GAP = 1;
const DISCONTINUITY = 2;
const NONE = -1;
const WHOLE: HlsRange = { first: Number.NaN, last: Number.NaN };
/** The URI of a gap must not be requested (draft-pantos-hls-rfc8216bis §4.4.4.7): it need not even be valid. */
const NO_CONTENT: Section = { uri: '.', range: undefined, key: undefined };

/** @throws PlaylistError for what no stream can read */
export function packSegments(
  segments: readonly HlsSegment[],
  { mediaSequence, targetSeconds = 0 }: Pick<HlsEntries, 'mediaSequence' | 'targetSeconds'>,
): PackedHlsSegments {
  const keys = new Map<HlsKey, number>();
  const maps = new Map<Section, number>();
  const content = packSections(
    segments.map((segment) => (segment.isGap ? NO_CONTENT : segment)),
    keys,
  );
  const initOf = Int32Array.from(segments, ({ map, isGap }) => (map && !isGap ? indexIn(maps, map) : NONE));
  // It has no sequence number to derive one from (RFC 8216 §4.3.2.5).
  for (const { key } of maps.keys())
    if (key && !key.iv) throw new PlaylistError('Encrypted initialization section without an IV');
  return {
    mediaSequence,
    seconds: Float64Array.from(segments, ({ seconds = targetSeconds }) => seconds),
    flags: Uint8Array.from(segments, (each) => (each.isGap ? GAP : 0) + (each.isDiscontinuity ? DISCONTINUITY : 0)),
    startsAtMs: segments.some((each) => each.startsAtMs !== undefined)
      ? Float64Array.from(segments, (each) => each.startsAtMs ?? Number.NaN)
      : undefined,
    content,
    inits: packSections([...maps.keys()], keys),
    initOf,
    keyUris: Array.from(keys.keys(), ({ uri }) => requireValidUri(uri)).join('\n'),
    ivs: Buffer.concat(Array.from(keys.keys(), ({ iv }) => iv ?? Buffer.alloc(IV_BYTES))),
    hasIv: Uint8Array.from(keys.keys(), ({ iv }) => Number(iv !== undefined)),
  };
}

function packSections(sections: readonly Section[], keys: Map<HlsKey, number>): PackedSections {
  const hasRanges = sections.some(({ range }) => range);
  const hasKeys = sections.some(({ key }) => key);
  const indexOf = (key: HlsKey) => {
    if (key.method !== 'AES-128')
      throw new EncryptedPlaylist(`Unsupported encryption method ${key.method.slice(0, 20)}`);
    return indexIn(keys, key);
  };
  return {
    uris: sections.map(({ uri }) => requireValidUri(uri)).join('\n'),
    ranges: hasRanges
      ? Float64Array.from(sections.flatMap(({ range: { first, last } = WHOLE }) => [first, last]))
      : undefined,
    keyOf: hasKeys ? Int32Array.from(sections, ({ key }) => (key ? indexOf(key) : NONE)) : undefined,
  };
}

function indexIn<Key>(indexes: Map<Key, number>, key: Key): number {
  const index = indexes.get(key) ?? indexes.size;
  indexes.set(key, index);
  return index;
}

/**
 * Whether a reference is valid does not depend on the path of its base: a short one saves time. It depends on the scheme:
 * `http:` is a relative reference for a base of that scheme alone.
 */
const BASES = ['http://host/', 'https://host/'];

export function requireValidUri(uri: string | undefined): string {
  if (!uri || !BASES.every((base) => URL.canParse(uri, base))) throw new PlaylistError('Invalid URI in playlist');
  return uri;
}

/**
 * The segments, one after the other: so many that a caller may return to the event loop in between.
 * @param base the URL that URIs are relative to
 */
export function* unpackSegments(packed: PackedHlsSegments, base: string): Generator<Segment> {
  const { mediaSequence, seconds, flags, initOf, startsAtMs } = packed;
  const contentAt = sectionReader(packed.content, packed, base);
  const initAt = sectionReader(packed.inits, packed, base);
  const inits: RelativeSection[] = [];
  let isDiscontinuity = false;
  for (const [index, length] of seconds.entries()) {
    const flag = flags[index] ?? 0;
    const sequence = mediaSequence + index;
    const time = startsAtMs?.[index] ?? Number.NaN;
    const timed = Number.isNaN(time) ? undefined : { startsAtMs: time };
    // A discontinuity at a gap applies to the next segment with media.
    isDiscontinuity ||= (flag & DISCONTINUITY) !== 0;
    if (flag & GAP) {
      yield { sequence, seconds: length, content: { url: '' }, isGap: true, ...timed };
      continue;
    }
    const init = initOf[index] ?? NONE;
    if (init !== NONE) inits[init] ??= initAt(init);
    yield { sequence, seconds: length, content: contentAt(index), init: inits[init], isDiscontinuity, ...timed };
    isDiscontinuity = false;
  }
}

/** Returns what creates the section of an index. */
function sectionReader(
  { uris, ranges, keyOf }: PackedSections,
  { mediaSequence, keyUris, ivs, hasIv }: PackedHlsSegments,
  base: string,
): (index: number) => RelativeSection {
  const written = uris.split('\n');
  const keys = keyOf ? keyUris.split('\n') : [];
  const ivOf = (key: number) => Buffer.from(ivs.subarray(key * IV_BYTES, (key + 1) * IV_BYTES));
  return (index) => {
    const first = ranges?.[2 * index] ?? Number.NaN;
    const last = ranges?.[2 * index + 1] ?? Number.NaN;
    const key = keyOf?.[index] ?? NONE;
    const keyUri = keys[key];
    const iv = () => (hasIv[key] ? ivOf(key) : ivOfSequence(mediaSequence + index));
    const cipher = keyUri === undefined ? undefined : { keyUri, iv };
    return new RelativeSection(written[index] ?? '', base, Number.isNaN(first) ? undefined : { first, last }, cipher);
  };
}
