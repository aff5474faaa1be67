import { appendChunk, discardResponse } from '../../egress/client/index.ts';
import type { Egress, GuardedResponse } from '../../egress/index.ts';
import { UpstreamError } from '../../errors/index.ts';
import { formatRange, parseContentRange, requestHeaders } from '../../http/index.ts';
import type { Block } from '../../parsing/index.ts';
import type { Track } from '../../state/index.ts';

/** Of one read: contains most headers, so that one round trip is enough. */
const BLOCK_BYTES = 64 * 1024;
/** Per file. */
const MAX_BYTES = 6 * 1024 * 1024;
const MAX_REQUESTS = 12;

/** Random access to a remote file, within bounds on bytes and requests. */
export interface GuardedReader {
  /** Of the first response; only 200 and 206 have bytes. */
  readonly status: number;
  /** Bytes; undefined when the source does not report it. */
  readonly size: number | undefined;
  /** What was read: the start of the file first. */
  readonly blocks: readonly [Block, ...Block[]];
  /**
   * Adds a block with the bytes from `start` up to, not including, `end`.
   * @throws OutOfReach; UpstreamError; the signal's reason once it is aborted
   */
  load(start: number, end: number): Promise<void>;
}

/** Bytes beyond the bounds, or of a source that does not support ranges: they cannot be read, however often it is tried. */
export class OutOfReach extends Error {
  override readonly name = 'OutOfReach';
}

export interface ReaderOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly identity: string;
  readonly signal: AbortSignal;
}

/**
 * Opens a file and reads its first bytes.
 * @throws EgressRefused, UpstreamError
 */
export async function openReader(track: Track, { egress, identity, signal }: ReaderOptions): Promise<GuardedReader> {
  const headersFor = requestHeaders(track);
  const request = (first: number, last: number) =>
    egress.request(track.url, {
      headersFor: (url) => ({ ...headersFor(url), range: formatRange({ first, last }) }),
      identity,
      signal,
    });

  const first = await request(0, BLOCK_BYTES - 1);
  if (first.status === 206 && !startsAt(first, 0)) {
    discardResponse(first);
    throw new UpstreamError('The source returned a different range');
  }
  const hasBytes = first.status === 200 || first.status === 206;
  if (!hasBytes) discardResponse(first);
  const head = hasBytes ? await collect(first, BLOCK_BYTES) : Buffer.alloc(0);
  const size = sizeOf(first, head);
  const blocks: [Block, ...Block[]] = [{ start: 0, bytes: head }];
  let totalBytes = head.length;

  const load = async (start: number, end: number) => {
    const last = Math.min(Math.max(end, start + BLOCK_BYTES), size ?? end) - 1;
    if (first.status !== 206) throw new OutOfReach('The source does not support ranges');
    if (blocks.length >= MAX_REQUESTS || totalBytes + last - start > MAX_BYTES)
      throw new OutOfReach('Read limit exceeded');
    const response = await request(start, last);
    if (response.status !== 206 || !startsAt(response, start)) {
      discardResponse(response);
      const isTransient = response.status === 429 || response.status >= 500;
      throw new (isTransient ? UpstreamError : OutOfReach)('The source did not return the range');
    }
    const bytes = await collect(response, last - start + 1);
    if (bytes.length < end - start) throw new OutOfReach('The file ends before the range');
    totalBytes += bytes.length;
    blocks.push({ start, bytes });
  };

  return {
    status: first.status,
    size,
    blocks,
    load,
  };
}

/** At most `maxBytes` of a body; the rest is not read. */
export async function collect({ body }: GuardedResponse, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop early destroys the body.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    appendChunk(chunks, chunk);
    length += chunk.length;
    // Not at the limit itself: a body that ends there keeps its connection reusable.
    if (length > maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

const startsAt = ({ headers }: GuardedResponse, offset: number): boolean =>
  parseContentRange(headers['content-range'])?.first === offset;

/** Bytes of the whole file, from Content-Range, else Content-Length, else from the body when it is complete. */
function sizeOf({ status, headers }: GuardedResponse, head: Buffer): number | undefined {
  if (headers['content-encoding'] && headers['content-encoding'] !== 'identity') return undefined;
  if (status === 206) return parseContentRange(headers['content-range'])?.total;
  return digits(headers['content-length']) ?? (head.length < BLOCK_BYTES ? head.length : undefined);
}

const digits = (text: string | undefined): number | undefined =>
  text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
