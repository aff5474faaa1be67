import { duration } from '../values.ts';
import {
  createHlsVariables,
  forEachHlsLine,
  IV_BYTES,
  MAX_URL_CHARS,
  PlaylistError,
  parseAttributeList,
} from './hls-lines.ts';

/** What the service uses of a playlist, with URIs as written. */
export interface HlsEntries {
  /** A media playlist lists them. Sequence numbers start at `mediaSequence`. */
  readonly segments: readonly HlsSegment[];
  /** A master playlist lists them (RFC 8216 §4.3.4.2), which has no segments. */
  readonly variants: readonly HlsVariant[];
  readonly isComplete: boolean;
  readonly mediaSequence: number;
  readonly discontinuitySequence: number;
  /** Seconds. */
  readonly targetSeconds: number | undefined;
  /** A key of another format than `identity` (RFC 8216 §4.3.2.4): a DRM system. */
  readonly isProtected: boolean;
  readonly firstKey: HlsKey | undefined;
}

export interface HlsSegment {
  readonly uri: string;
  /** Undefined without a valid EXTINF (RFC 8216 §4.3.2.1). */
  readonly seconds: number | undefined;
  readonly range: HlsRange | undefined;
  readonly key: HlsKey | undefined;
  /** One object per EXT-X-MAP, shared by the segments that it applies to. */
  readonly map: HlsMap | undefined;
  readonly isDiscontinuity: boolean;
  readonly isGap: boolean;
  /** EXT-X-PROGRAM-DATE-TIME (RFC 8216 §4.3.2.6), epoch milliseconds. */
  readonly startsAtMs: number | undefined;
}

interface HlsVariant {
  readonly uri: string;
  /** bit/s. */
  readonly bandwidth: number;
}

/** Offsets in bytes, both included. */
export interface HlsRange {
  readonly first: number;
  readonly last: number;
}

/** RFC 8216 §4.3.2.4. */
export interface HlsKey {
  readonly method: string;
  readonly uri: string;
  /** 16 bytes. */
  readonly iv: Buffer | undefined;
}

/** RFC 8216 §4.3.2.5. */
interface HlsMap {
  readonly uri: string | undefined;
  readonly range: HlsRange | undefined;
  readonly key: HlsKey | undefined;
}

/** All other tags are dropped before they are parsed. */
const TAGS = new Set([
  'EXTINF',
  'EXT-X-BYTERANGE',
  'EXT-X-DEFINE',
  'EXT-X-DISCONTINUITY',
  'EXT-X-DISCONTINUITY-SEQUENCE',
  'EXT-X-ENDLIST',
  'EXT-X-GAP',
  'EXT-X-KEY',
  'EXT-X-MAP',
  'EXT-X-MEDIA-SEQUENCE',
  'EXT-X-PROGRAM-DATE-TIME',
  'EXT-X-STREAM-INF',
  'EXT-X-TARGETDURATION',
]);
/** EXTINF of 0 seconds: players skip such a segment when its time is 0. */
const MIN_SEGMENT_SECONDS = 0.01;

/**
 * Reads a playlist in one pass, line by line. Memory is linear in the number of segments, and at most `maxSegments` of
 * them are listed.
 * @throws PlaylistError
 */
export function readHlsEntries(text: string, maxSegments: number): HlsEntries {
  const variables = createHlsVariables();
  const segments: HlsSegment[] = [];
  const variants: HlsVariant[] = [];
  let [isMaster, isMedia, isComplete, isProtected] = [false, false, false, false];
  let mediaSequence = 0;
  let discontinuitySequence = 0;
  let targetSeconds: number | undefined;
  let key: HlsKey | undefined;
  let map: HlsMap | undefined;
  let firstKey: HlsKey | undefined;
  let nextOffset = 0;
  // What tags say of the next URI.
  let seconds: number | undefined;
  let range: HlsRange | undefined;
  let [isDiscontinuity, isGap] = [false, false];
  let startsAtMs: number | undefined;
  let bandwidth = 0;

  const addUri = (uri: string) => {
    // The URI of a gap is not used (draft-pantos-hls-rfc8216bis §4.4.4.7).
    requireShortUri(uri);
    if (segments.length + variants.length >= maxSegments) throw new PlaylistError('The playlist has too many segments');
    if (isMaster) variants.push({ uri, bandwidth });
    else segments.push({ uri, seconds, range, key, map, isDiscontinuity, isGap, startsAtMs });
    seconds = undefined;
    range = undefined;
    bandwidth = 0;
    isDiscontinuity = false;
    isGap = false;
    startsAtMs = undefined;
  };

  const readers: Readonly<Record<string, (value: string) => void>> = {
    EXTINF(value) {
      isMedia = true;
      seconds = secondsOf(value);
    },
    'EXT-X-BYTERANGE'(value) {
      range = rangeOf(value, nextOffset);
      nextOffset = range.last + 1;
    },
    'EXT-X-DISCONTINUITY'() {
      isDiscontinuity = true;
    },
    'EXT-X-DISCONTINUITY-SEQUENCE'(value) {
      discontinuitySequence = integerOf(value) ?? 0;
    },
    'EXT-X-ENDLIST'() {
      isComplete = true;
    },
    'EXT-X-GAP'() {
      isGap = true;
    },
    'EXT-X-KEY'(value) {
      const attributes = parseAttributeList(value);
      const uri = attributes.get('URI');
      const method = attributes.get('METHOD') || 'AES-128';
      if (method === 'NONE') key = undefined;
      if (method === 'NONE' || !uri) return;
      const read = { method, uri: requireShortUri(uri), iv: ivOf(attributes.get('IV')) };
      firstKey ??= read;
      if ((attributes.get('KEYFORMAT') || 'identity') === 'identity') key = read;
      else isProtected = true;
    },
    'EXT-X-MAP'(value) {
      const attributes = parseAttributeList(value);
      const written = attributes.get('BYTERANGE');
      const uri = requireShortUri(attributes.get('URI') ?? '');
      map = { uri: uri || undefined, range: written === undefined ? undefined : rangeOf(written, 0), key };
    },
    'EXT-X-MEDIA-SEQUENCE'(value) {
      const digits = INTEGER.exec(value)?.[0];
      if (digits) mediaSequence = Number(BigInt.asUintN(SEQUENCE_BITS, BigInt(digits)));
    },
    'EXT-X-PROGRAM-DATE-TIME'(value) {
      startsAtMs = timeOf(value);
    },
    'EXT-X-STREAM-INF'(value) {
      isMaster = true;
      bandwidth = integerOf(parseAttributeList(value).get('BANDWIDTH') ?? '') ?? 0;
    },
    'EXT-X-TARGETDURATION'(value) {
      const read = integerOf(value);
      if (read === 0 || duration(read)) targetSeconds = read;
    },
  };

  forEachHlsLine(text, TAGS, (line) => {
    if (line.tag === 'EXT-X-DEFINE') return variables.define(parseAttributeList(line.value));
    const { tag, value } = variables.substitute(line);
    if (tag === undefined) addUri(value);
    else readers[tag]?.(value);
  });
  // URIs without any EXTINF are those of a simple M3U list, not of segments.
  const listed = isMedia && !isMaster ? segments : [];
  const facts = { isComplete, mediaSequence, discontinuitySequence, targetSeconds, isProtected, firstKey };
  return { segments: listed, variants: isMaster ? variants : [], ...facts };
}

/** The duration of EXTINF, before the comma and the title. */
const EXTINF_SECONDS = /^(\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})\s*(?:,|$)/;
/** As many digits as 64 bits have. */
const INTEGER = /^\d{1,20}/;
/** Of sequence numbers, some of which are times in microseconds: they stay consecutive, and exact as numbers. */
const SEQUENCE_BITS = 52;

function secondsOf(value: string): number | undefined {
  const seconds = Number(EXTINF_SECONDS.exec(value)?.[1]);
  return seconds === 0 ? MIN_SEGMENT_SECONDS : duration(seconds);
}

/** Characters of a time that are read. */
const MAX_TIME_CHARS = 32;

/** ISO 8601 with a date and a time; undefined where that is not what is written. */
function timeOf(value: string): number | undefined {
  const time = /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value.slice(0, MAX_TIME_CHARS)) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** The digits at the start. */
const integerOf = (value: string): number | undefined => {
  const digits = INTEGER.exec(value)?.[0];
  return digits === undefined ? undefined : Number(digits);
};

/** `<length>[@<offset>]` (RFC 8216 §4.3.2.2). */
function rangeOf(written: string, defaultOffset: number): HlsRange {
  const [, length, offset = defaultOffset] = /^(\d{1,15})(?:@(\d{1,15}))?$/.exec(written.trim()) ?? [];
  const first = Number(offset);
  const last = first + Number(length) - 1;
  if (last < first || !Number.isSafeInteger(last)) throw new PlaylistError('Invalid byte range in playlist');
  return { first, last };
}

/** An initialization vector is a hexadecimal number (RFC 8216 §4.2): leading zeros may be missing. */
function ivOf(written: string | undefined): Buffer | undefined {
  if (written === undefined) return undefined;
  const digits = /^(?:0x)?([\da-f]{1,32})$/i.exec(written.trim())?.[1];
  if (digits === undefined) throw new PlaylistError('Invalid initialization vector');
  return Buffer.from(digits.padStart(2 * IV_BYTES, '0'), 'hex');
}

function requireShortUri(uri: string): string {
  if (uri.length > MAX_URL_CHARS) throw new PlaylistError('A URI of the playlist is too long');
  return uri;
}
