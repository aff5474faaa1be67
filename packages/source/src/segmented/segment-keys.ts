import { createDecipheriv, type Decipheriv } from 'node:crypto';
import { createCache, createSingleFlight } from '@reelay/concurrency';
import { type MediaSection, type Segment, segmentAt } from '@reelay/seekable-media/timeline';
import { createLengthCheck, type MediaCheckOptions } from '../completeness.ts';
import { UpstreamError } from '../errors.ts';
import { fetchBuffer } from '../memory.ts';
import { type Name, nameOf } from '../names.ts';
import { initializationVector, keyUrl, knownKey, type SourceTrack, segmentUrl } from '../track.ts';
import type { RangePolicy, UpstreamRequestDependencies, UpstreamTarget } from '../upstream-request.ts';
import type { OpenList } from './load-timeline.ts';

/** Its initialization section, or its media. */
export type Side = 'init' | 'content';

/** A section of a segment at its URL in the latest list: one that is no longer listed may still be available. */
export const sectionTarget = (
  { locator, rangeRequirement }: OpenList,
  segment: Segment,
  side: Side,
  policy: RangePolicy = { rangeRequirement },
  urlOf = ({ url }: MediaSection, track: SourceTrack): string | undefined => segmentUrl(track, url),
): UpstreamTarget =>
  locator.target(policy, ({ value, track }) => {
    const listed = segmentAt(value, segment.sequence);
    const section = (listed && !listed.isGap ? listed : segment)[side];
    return (section && urlOf(section, track)) ?? '';
  });

/** Bytes of an AES-128 key. */
const KEY_BYTES = 16;
/** That are kept of one list. */
const MAX_KEYS = 256;

/** What decrypts a section (AES-128, CBC). */
export interface Decryption {
  readonly key: Buffer;
  readonly iv: Buffer;
}

/** Decrypts a section (RFC 8216 §4.3.2.4). `final` throws for invalid padding: a wrong key, or truncated bytes. */
export const decipherOf = ({ key, iv }: Decryption): Decipheriv => createDecipheriv('aes-128-cbc', key, iv);

/** What a whole section of a segment is checked for. */
export const checksOf = (
  { timeline }: OpenList,
  segment: Segment,
  side: Side,
  cipher: Decryption | undefined,
): MediaCheckOptions => ({
  seconds: side === 'init' || timeline.isRounded ? 0 : segment.seconds,
  isNominal: timeline.isRounded === undefined,
  cipher,
  isSegment: true,
  isInit: side === 'init',
  isPart: segment[side]?.range !== undefined,
});

/** The keys of a list, shared by all its readers. */
export interface SegmentKeys {
  /** Undefined: the section is not encrypted, or its key must be read first. */
  known(section: MediaSection | undefined): Decryption | undefined;
  /** Reads a key if need be. @throws UpstreamError, also when it has another length; UrlExpired, and what `renew` of the track throws */
  read(segment: Segment, side: Side, signal: AbortSignal): Promise<Decryption | undefined>;
}

export function createSegmentKeys(request: UpstreamRequestDependencies, list: OpenList): SegmentKeys {
  const { locator } = list;
  // A playlist may name a key per segment. An evicted key is fetched again when it is needed again.
  const keys = createCache<Name, Buffer>({ maxEntries: MAX_KEYS });
  // Of this list alone: what its track sends with a URL is always the same.
  const nameOfKey = (url: string) => nameOf([{ track: { url } }], 'key');
  const flights = createSingleFlight<Buffer, Name>();
  const decryption = (key: Buffer, iv: Buffer) => ({ key, iv: initializationVector(locator.track, iv) });
  const known: SegmentKeys['known'] = ({ cipher } = { url: '' }) => {
    const key = cipher && (knownKey(locator.track) ?? keys.get(nameOfKey(cipher.keyUrl)));
    return key && decryption(key, cipher.iv);
  };
  return {
    known,
    async read(segment, side, signal) {
      const { cipher } = segment[side] ?? {};
      if (!cipher) return undefined;
      const load = async (shared: AbortSignal) => {
        const target = sectionTarget(
          list,
          segment,
          side,
          undefined,
          (section, track) => section.cipher && keyUrl(track, section.cipher.keyUrl),
        );
        const createCheck = () => createLengthCheck(KEY_BYTES);
        const { bytes } = await fetchBuffer({ ...request, target, createCheck }, KEY_BYTES, shared);
        if (bytes.length !== KEY_BYTES) throw new UpstreamError(`AES-128 key of ${bytes.length} bytes`);
        return keys.set(nameOfKey(cipher.keyUrl), bytes);
      };
      return known(segment[side]) ?? decryption(await flights(nameOfKey(cipher.keyUrl), load, signal), cipher.iv);
    },
  };
}
