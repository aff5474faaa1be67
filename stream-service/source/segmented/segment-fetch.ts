import { createDecipheriv } from 'node:crypto';
import { createSingleFlight } from '@reelay/concurrency';
import { type MediaSection, type Segment, segmentAt, type Timeline } from '@reelay/seekable-media/timeline';
import { UpstreamError } from '../../../core/errors/index.ts';
import {
  capabilitiesOf,
  initializationVector,
  keyUrl,
  knownKey,
  segmentUrl,
  type Track,
} from '../../../core/state/index.ts';
import type { AttemptOptions } from '../attempts.ts';
import { createLengthCheck, createMediaCheck } from '../completeness.ts';
import { fetchBuffer } from '../memory.ts';
import { RangeFetch } from '../range-fetch.ts';
import type { OpenRequest } from '../source.ts';
import type { TrackLocator } from '../track-locator.ts';
import { ChunkSizer, type RangePolicy, type UpstreamTarget } from '../upstream-request.ts';

/** A segment has another size than it had when its list was read. */
export class SegmentChanged extends UpstreamError {}

/** The first bytes of a segment, decrypted. */
export interface FetchedHead {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  /** What the whole segment takes at its source. Undefined: the source does not tell. */
  readonly size: number | undefined;
}

/** Reads segments of one list whole, with all retries, renewals and checks that streams of segments have. */
export interface SegmentFetch {
  /** @throws UpstreamError, UrlExpired, NotFound */
  head(segment: Segment, bytes: number, options: FetchOptions): Promise<FetchedHead>;
  /** @throws the same */
  init(segment: Segment, options: FetchOptions): Promise<Buffer | undefined>;
  /** @param bytes that the segment has. @throws SegmentChanged when it has another size, and the same */
  whole(segment: Segment, bytes: number, options: FetchOptions): Promise<Buffer>;
}

export interface FetchOptions extends Pick<AttemptOptions, 'onOverload'> {
  readonly signal: AbortSignal;
}

export interface Decryption {
  readonly key: Buffer;
  readonly iv: Buffer;
}

type Side = 'init' | 'content';

/** Bytes of an AES-128 key, and of its blocks. */
const KEY_BYTES = 16;
const BLOCK_BYTES = 16;
const MAX_INIT_BYTES = 4 * 1024 * 1024;

/** An AES-128 key. @throws UpstreamError when it has another length */
export async function fetchKey(options: AttemptOptions, signal: AbortSignal): Promise<Buffer> {
  const createCheck = () => createLengthCheck(KEY_BYTES);
  const { bytes } = await fetchBuffer({ ...options, createCheck }, KEY_BYTES, signal);
  if (bytes.length !== KEY_BYTES) throw new UpstreamError(`AES-128 key of ${bytes.length} bytes`);
  return bytes;
}

/** A section of a segment at its URL in the latest list: one that is no longer listed may still be available. */
export const sectionTarget = (
  locator: TrackLocator<Timeline>,
  segment: Segment,
  side: Side,
  urlOf: (section: MediaSection, track: Track) => string | undefined,
  policy: RangePolicy,
): UpstreamTarget =>
  locator.target(({ value, track }) => {
    const listed = segmentAt(value, segment.sequence);
    const section = (listed && !listed.isGap ? listed : segment)[side];
    return (section && urlOf(section, track)) ?? '';
  }, policy);

export function createSegmentFetch(
  request: OpenRequest,
  { locator, isRounded = false }: { readonly locator: TrackLocator<Timeline>; readonly isRounded?: boolean },
): SegmentFetch {
  const chunks = new ChunkSizer(request.limits, request.track.chunkBytes);
  const rangeRequirement = { isRequired: false, chunks };
  const keys = new Map<string, Buffer>();
  const flights = createSingleFlight<Buffer>();
  const onBytes = () => locator.addProgress();
  /** The one URL of all parts of a file: each response is checked against those before it. */
  const file = capabilitiesOf(request.track).isFile ? locator.target(({ track }) => track.url, { chunks }) : undefined;

  const targetOf = (segment: Segment, side: Side, policy: RangePolicy) =>
    sectionTarget(locator, segment, side, ({ url }, track) => segmentUrl(track, url), policy);

  const decryptionOf = async (segment: Segment, side: Side, signal: AbortSignal): Promise<Decryption | undefined> => {
    const { cipher } = segment[side] ?? {};
    if (!cipher) return undefined;
    const load = async (shared: AbortSignal) => {
      const target = sectionTarget(
        locator,
        segment,
        side,
        (section, track) => section.cipher && keyUrl(track, section.cipher.keyUrl),
        { rangeRequirement },
      );
      const key = await fetchKey({ ...request, target }, shared);
      keys.set(cipher.keyUrl, key);
      return key;
    };
    const key = knownKey(locator.track) ?? keys.get(cipher.keyUrl) ?? (await flights(cipher.keyUrl, load, signal));
    return { key, iv: initializationVector(locator.track, cipher.iv) };
  };

  return {
    async head(segment, bytes, { signal, onOverload }) {
      const { range } = segment.content;
      const decryption = await decryptionOf(segment, 'content', signal);
      const wanted = decryption ? Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES : bytes;
      const first = range?.first ?? 0;
      const last = Math.min(first + wanted - 1, range?.last ?? Number.POSITIVE_INFINITY);
      const target = targetOf(segment, 'content', { chunks });
      const { bytes: read } = await fetchBuffer({ ...request, target, onOverload }, wanted, signal, { first, last });
      onBytes();
      const size = range ? range.last - range.first + 1 : target.entity.size;
      const isWhole = size !== undefined && read.length >= size;
      return { size, isWhole, bytes: decryption ? decrypt(read, decryption, isWhole) : read };
    },

    async init(segment, { signal, onOverload }) {
      if (!segment.init) return undefined;
      const target = targetOf(segment, 'init', { rangeRequirement });
      const { bytes } = await fetchBuffer(
        { ...request, target, onOverload },
        MAX_INIT_BYTES,
        signal,
        segment.init.range,
      );
      const decryption = await decryptionOf(segment, 'init', signal);
      return decryption ? decrypt(bytes, decryption, true) : bytes;
    },

    async whole(segment, bytes, { signal, onOverload }) {
      const { range } = segment.content;
      const decryption = await decryptionOf(segment, 'content', signal);
      const first = range?.first ?? 0;
      const target = file ?? targetOf(segment, 'content', { rangeRequirement });
      const seconds = isRounded ? 0 : segment.seconds;
      const checks = { seconds, cipher: decryption, isSegment: true, isPart: range !== undefined };
      const settled = Promise.withResolvers<void>();
      signal.throwIfAborted();
      const fetch = new RangeFetch({
        ...request,
        target,
        onBytes,
        onOverload,
        bufferLimitBytes: bytes,
        requested: { first, last: first + bytes - 1 },
        createSegmentCheck: () => createMediaCheck(checks),
        onSettled: settled.resolve,
      });
      const onAbort = () => settled.reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        await Promise.race([fetch.firstByte, settled.promise]);
        const { size } = target.entity;
        if (!range && size !== undefined && size !== bytes) throw new SegmentChanged('A segment has another size');
        // A damaged one is requested again until none of it has been passed on.
        await settled.promise;
        const read = await collect(fetch);
        if (read.length !== bytes) throw new SegmentChanged('A segment has another size');
        return decryption ? decrypt(read, decryption, true) : read;
      } finally {
        signal.removeEventListener('abort', onAbort);
        settled.promise.catch(() => undefined);
        fetch.destroy();
      }
    },
  };
}

/** What a fetch that has ended has buffered. @throws the failure that it has ended with */
function collect(fetch: RangeFetch): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    fetch.attach({
      data: (chunk) => chunks.push(chunk) > 0,
      end: () => resolve(Buffer.concat(chunks)),
      fail: reject,
    });
  });
}

/** AES-128 in CBC mode (RFC 8216 §4.3.2.4). @throws UpstreamError for invalid padding: a wrong key, or truncated bytes */
function decrypt(bytes: Buffer, { key, iv }: Decryption, isWhole: boolean): Buffer {
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(isWhole);
  try {
    const whole = bytes.subarray(0, bytes.length - (bytes.length % BLOCK_BYTES));
    return Buffer.concat([decipher.update(whole), isWhole ? decipher.final() : Buffer.alloc(0)]);
  } catch (cause) {
    throw new UpstreamError('A segment could not be decrypted', { cause });
  }
}
