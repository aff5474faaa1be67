import { releaseBuffer } from '@reelay/guarded-fetch';
import { HEAD_BYTES } from '@reelay/seekable-media/segment-file';
import type { Segment } from '@reelay/seekable-media/timeline';
import { digestOf } from '@reelay/seekable-media/values';
import type { AttemptOptions } from '../attempts.ts';
import { createMediaCheck, type MediaCheckOptions } from '../completeness.ts';
import { UpstreamError } from '../errors.ts';
import { fetchBuffer } from '../memory.ts';
import { RangeFetch } from '../range-fetch.ts';
import type { Entity } from '../upstream-request.ts';
import type { ListRequest, OpenList } from './load-timeline.ts';
import { checksOf, createSegmentKeys, type Decryption, decipherOf, sectionTarget } from './segment-keys.ts';

/** A segment is not the one that it was when its list was read. */
export class SegmentChanged extends UpstreamError {
  /** Its first bytes and its size are the same. */
  readonly hasSameHead: boolean;

  constructor(message: string, hasSameHead = false) {
    super(message);
    this.hasSameHead = hasSameHead;
  }
}

/** What distinguishes a segment from others of its size: digests of so many characters. */
export interface SegmentVersion {
  /** Digest of the first bytes. Absent: they were not read. */
  readonly head?: string | undefined;
  /** Digest of the strong ETag, of a byte range also of Last-Modified. Absent: the source states none. */
  readonly etag?: string | undefined;
}
export const VERSION_CHARACTERS = 8;

/** The first bytes of a segment, decrypted. */
interface FetchedHead {
  readonly version: SegmentVersion;
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  /** What the whole segment takes at its source. Undefined: the source does not tell. */
  readonly size: number | undefined;
}

/** Reads segments of one list whole, with all retries, renewals and checks that streams of segments have. */
export interface SegmentFetch {
  /** @throws UpstreamError, UrlExpired, and what `renew` of the track throws */
  head(segment: Segment, bytes: number, options: FetchOptions): Promise<FetchedHead>;
  /** @throws the same */
  init(segment: Segment, options: FetchOptions): Promise<Buffer | undefined>;
  /**
   * @param known what the segment was when its list was read
   * @throws SegmentChanged when it has another size or version, and the same
   */
  whole(segment: Segment, known: KnownSegment, options: FetchOptions): Promise<FetchedSegment>;
  /**
   * Reads some bytes again that were read before: a source may have changed what it gives the same validator.
   * @throws SegmentChanged when they differ, and the same
   */
  compare(segment: Segment, known: KnownSegment, samples: Samples, options: FetchOptions): Promise<void>;
}

/** Bytes from the middle and from the end of a segment, as its source sends it. */
export type Samples = readonly Buffer[];

interface FetchedSegment {
  /** Decrypted. */
  readonly parts: readonly Buffer[];
  readonly samples: Samples;
}

export interface KnownSegment extends Pick<MediaCheckOptions, 'tracks'> {
  readonly bytes: number;
  readonly version: SegmentVersion;
}

export interface FetchOptions extends Pick<AttemptOptions, 'onOverload'> {
  readonly signal: AbortSignal;
}

/** Of AES-128. */
const BLOCK_BYTES = 16;
const MAX_INIT_BYTES = 4 * 1024 * 1024;

export function createSegmentFetch(request: ListRequest, list: OpenList): SegmentFetch {
  const {
    locator,
    timeline,
    rangeRequirement: { chunks },
  } = list;
  const keys = createSegmentKeys(request, list);
  const onBytes = () => locator.addProgress();
  /** The one URL of all parts of a file: each response is checked against those before it. */
  const { file: known } = timeline;
  const file = known && { ...locator.target({ chunks }), entity: known.entity, seen: known.seen };

  const segmentFetch: SegmentFetch = {
    async head(segment, bytes, { signal, onOverload }) {
      const { range } = segment.content;
      const decryption = await keys.read(segment, 'content', signal);
      const wanted = decryption ? Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES : bytes;
      const first = range?.first ?? 0;
      const last = Math.min(first + wanted - 1, range?.last ?? Number.POSITIVE_INFINITY);
      const target = sectionTarget(list, segment, 'content', { chunks });
      const { bytes: read } = await fetchBuffer({ ...request, target, onOverload }, wanted, signal, { first, last });
      onBytes();
      const size = range ? range.last - range.first + 1 : target.entity.size;
      const isWhole = size !== undefined && read.length >= size;
      const version = versionOf(target.entity, [read], range !== undefined);
      return { size, isWhole, version, bytes: decryption ? decryptBlocks(read, decryption, isWhole) : read };
    },

    async init(segment, { signal, onOverload }) {
      if (!segment.init) return undefined;
      const target = sectionTarget(list, segment, 'init');
      const { bytes } = await fetchBuffer(
        { ...request, target, onOverload },
        MAX_INIT_BYTES,
        signal,
        segment.init.range,
      );
      const decryption = await keys.read(segment, 'init', signal);
      return decryption ? decryptBlocks(bytes, decryption, true) : bytes;
    },

    async whole(segment, { bytes, version, tracks }, { signal, onOverload }) {
      const { range } = segment.content;
      const decryption = await keys.read(segment, 'content', signal);
      const first = range?.first ?? 0;
      const target = file ?? sectionTarget(list, segment, 'content');
      const checks = {
        ...checksOf(list, segment, 'content', decryption),
        isLast: segment.sequence === timeline.segments.at(-1)?.sequence,
        ...(tracks && { tracks }),
      };
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
        const parts = await collect(fetch);
        if (parts.reduce((sum, { length }) => sum + length, 0) !== bytes)
          throw new SegmentChanged('A segment has another size');
        requireVersion(version, versionOf(target.entity, parts, range !== undefined));
        const samples = sampleOffsets(bytes).map((offset) => copyOf(parts, offset));
        if (!decryption) return { parts, samples };
        const decrypted = decrypt(parts, decryption, true);
        parts.forEach(releaseBuffer);
        return { parts: decrypted, samples };
      } finally {
        signal.removeEventListener('abort', onAbort);
        settled.promise.catch(() => undefined);
        fetch.destroy();
      }
    },

    async compare(segment, known, samples, options) {
      const start = segment.content.range?.first ?? 0;
      const read = async (offset: number, index: number) => {
        const target = file ?? sectionTarget(list, segment, 'content');
        const length = samples[index]?.length ?? 0;
        const range = { first: start + offset, last: start + offset + length - 1 };
        return (await fetchBuffer({ ...request, target }, length, options.signal, range)).bytes;
      };
      const again = await Promise.all(sampleOffsets(known.bytes).map(read)).catch(async () => {
        options.signal.throwIfAborted();
        // A source without ranges.
        const whole = await segmentFetch.whole(segment, known, options);
        whole.parts.forEach(releaseBuffer);
        return whole.samples;
      });
      if (!again.every((bytes, index) => bytes.equals(samples[index] ?? Buffer.alloc(0))))
        throw new SegmentChanged('A segment has other bytes');
    },
  };
  return segmentFetch;
}

const SAMPLE_BYTES = 2048;
/** Bytes of the samples of a segment. */
export const MAX_SAMPLED_BYTES = 2 * SAMPLE_BYTES;

const sampleOffsets = (bytes: number): readonly number[] =>
  [bytes / 2, bytes - SAMPLE_BYTES].map((offset) => Math.max(0, Math.floor(offset)));

/** At most `SAMPLE_BYTES`. */
function copyOf(parts: readonly Buffer[], offset: number): Buffer {
  let before = 0;
  const wanted: Buffer[] = [];
  for (const part of parts) {
    const [from, to] = [Math.max(0, offset - before), Math.max(0, offset + SAMPLE_BYTES - before)];
    wanted.push(part.subarray(from, to));
    before += part.length;
  }
  return Buffer.concat(wanted);
}

function versionOf({ etag, lastModified }: Entity, parts: readonly Buffer[], isPart: boolean): SegmentVersion {
  const validator = etag ?? (isPart ? lastModified : undefined);
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  return {
    head: digestOf(Buffer.concat(parts, Math.min(bytes, HEAD_BYTES)), VERSION_CHARACTERS),
    etag: validator && digestOf(validator, VERSION_CHARACTERS),
  };
}

/** What is missing is no contradiction. @throws SegmentChanged */
function requireVersion(known: SegmentVersion, found: SegmentVersion): void {
  const differs = (name: keyof SegmentVersion) => known[name] && found[name] && known[name] !== found[name];
  const hasSameHead = known.head !== undefined && !differs('head');
  if (differs('head') || differs('etag')) throw new SegmentChanged('A segment has other bytes', hasSameHead);
}

/** What a fetch that has ended has buffered. @throws the failure that it has ended with */
function collect(fetch: RangeFetch): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    fetch.attach({ data: (chunk) => chunks.push(chunk) > 0, end: () => resolve(chunks), fail: reject });
  });
}

/** @throws UpstreamError for invalid padding */
function decrypt(parts: readonly Buffer[], decryption: Decryption, isWhole: boolean): readonly Buffer[] {
  const decipher = decipherOf(decryption).setAutoPadding(isWhole);
  try {
    const decrypted = parts.map((part) => decipher.update(part));
    return isWhole ? [...decrypted, decipher.final()] : decrypted;
  } catch (cause) {
    throw new UpstreamError('A segment could not be decrypted', { cause });
  }
}

/** The same of the whole blocks of some bytes. */
const decryptBlocks = (bytes: Buffer, decryption: Decryption, isWhole: boolean): Buffer =>
  Buffer.concat(decrypt([bytes.subarray(0, bytes.length - (bytes.length % BLOCK_BYTES))], decryption, isWhole));
