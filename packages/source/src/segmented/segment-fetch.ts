import { createDecipheriv } from 'node:crypto';
import { releaseBuffer } from '@reelay/guarded-fetch';
import type { Segment } from '@reelay/seekable-media/timeline';
import type { AttemptOptions } from '../attempts.ts';
import { createMediaCheck } from '../completeness.ts';
import { UpstreamError } from '../errors.ts';
import { fetchBuffer } from '../memory.ts';
import { RangeFetch } from '../range-fetch.ts';
import type { ListRequest, OpenList } from './load-timeline.ts';
import { createSegmentKeys, type Decryption, sectionTarget } from './segment-keys.ts';

/** A segment has another size than it had when its list was read. */
export class SegmentChanged extends UpstreamError {}

/** The first bytes of a segment, decrypted. */
interface FetchedHead {
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
   * @param bytes that the segment has
   * @returns its parts
   * @throws SegmentChanged when it has another size, and the same
   */
  whole(segment: Segment, bytes: number, options: FetchOptions): Promise<readonly Buffer[]>;
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
  const file = request.kind.isFile ? locator.target({ chunks }) : undefined;

  return {
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
      return { size, isWhole, bytes: decryption ? decryptBlocks(read, decryption, isWhole) : read };
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

    async whole(segment, bytes, { signal, onOverload }) {
      const { range } = segment.content;
      const decryption = await keys.read(segment, 'content', signal);
      const first = range?.first ?? 0;
      const target = file ?? sectionTarget(list, segment, 'content');
      const seconds = timeline.isRounded ? 0 : segment.seconds;
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
        const parts = await collect(fetch);
        if (parts.reduce((sum, { length }) => sum + length, 0) !== bytes)
          throw new SegmentChanged('A segment has another size');
        if (!decryption) return parts;
        const decrypted = decrypt(parts, decryption, true);
        parts.forEach(releaseBuffer);
        return decrypted;
      } finally {
        signal.removeEventListener('abort', onAbort);
        settled.promise.catch(() => undefined);
        fetch.destroy();
      }
    },
  };
}

/** What a fetch that has ended has buffered. @throws the failure that it has ended with */
function collect(fetch: RangeFetch): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    fetch.attach({ data: (chunk) => chunks.push(chunk) > 0, end: () => resolve(chunks), fail: reject });
  });
}

/** AES-128 in CBC mode (RFC 8216 §4.3.2.4). @throws UpstreamError for invalid padding: a wrong key, or truncated bytes */
function decrypt(parts: readonly Buffer[], { key, iv }: Decryption, isWhole: boolean): readonly Buffer[] {
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(isWhole);
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
