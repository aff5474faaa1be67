import type { Egress, GuardedResponse } from '../../egress/index.ts';
import { UpstreamError } from '../../errors/index.ts';
import { requestHeaders } from '../../http/index.ts';
import type { Track } from '../../state/index.ts';

/** Bytes of one read: enough for most headers, and one round trip. */
const BLOCK_BYTES = 64 * 1024;
/** Bytes and requests one file may cost. */
const MAX_BYTES = 6 * 1024 * 1024;
const MAX_REQUESTS = 12;

/** The beginning of a file, and its other bytes as far as the source lets us jump and the bounds allow. */
export interface GuardedReader {
  /** Status of the first answer; only 200 and 206 come with bytes. */
  readonly status: number;
  readonly contentType: string;
  /** Bytes; undefined when the source does not say. */
  readonly size: number | undefined;
  /** What has been read: the beginning, then what was asked for. */
  readonly blocks: readonly [Block, ...Block[]];
  /** Adds a block with the bytes from `start` up to, not including, `end`. @throws when they cannot be had within the bounds */
  load(start: number, end: number): Promise<void>;
}

/** Bytes of a file, from `start` on. */
export interface Block {
  readonly start: number;
  readonly bytes: Buffer;
}

export interface ReaderOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly identity: string;
  readonly signal: AbortSignal;
}

/**
 * Opens a file by its first bytes.
 * @throws EgressRefused, UpstreamError
 */
export async function openReader(track: Track, { egress, identity, signal }: ReaderOptions): Promise<GuardedReader> {
  const headersFor = requestHeaders(track);
  const request = (first: number, last: number) =>
    egress.request(track.url, {
      headersFor: (url) => ({ ...headersFor(url), range: `bytes=${first}-${last}` }),
      identity,
      signal,
    });

  const answer = await request(0, BLOCK_BYTES - 1);
  if (answer.status === 206 && !startsAt(answer, 0)) {
    discard(answer);
    throw new UpstreamError('The source answered another range');
  }
  const head = answer.status === 200 || answer.status === 206 ? await collect(answer, BLOCK_BYTES) : discard(answer);
  const size = sizeOf(answer, head);
  const blocks: [Block, ...Block[]] = [{ start: 0, bytes: head }];
  let spent = head.length;

  const load = async (start: number, end: number) => {
    const last = Math.min(Math.max(end, start + BLOCK_BYTES), size ?? end) - 1;
    if (answer.status !== 206) throw new Error('The source cannot be read from the middle');
    if (blocks.length >= MAX_REQUESTS || spent + last - start > MAX_BYTES) throw new Error('Too much to read');
    const part = await request(start, last);
    if (part.status !== 206 || !startsAt(part, start)) {
      discard(part);
      throw new UpstreamError('The source answered another range');
    }
    const bytes = await collect(part, last - start + 1);
    if (bytes.length < end - start) throw new Error('The source ended early');
    spent += bytes.length;
    blocks.push({ start, bytes });
  };

  return {
    status: answer.status,
    contentType: answer.headers['content-type']?.toLowerCase() ?? '',
    size,
    blocks,
    load,
  };
}

/** At most `limit` bytes of a body; the rest is not read. */
export async function collect({ body }: GuardedResponse, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop early destroys the body.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    // Not at the limit: a body that ends there leaves its connection to the next request.
    if (length > limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit);
}

/** Ends a body that nobody reads. Gives no bytes. */
export function discard({ body }: GuardedResponse): Buffer {
  body.on('error', () => undefined).destroy();
  return Buffer.alloc(0);
}

const startsAt = ({ headers }: GuardedResponse, offset: number): boolean =>
  headers['content-range']?.startsWith(`bytes ${offset}-`) ?? false;

/** What Content-Range says of the whole, else Content-Length, else what has come when that was all. */
function sizeOf({ status, headers }: GuardedResponse, head: Buffer): number | undefined {
  if (headers['content-encoding'] && headers['content-encoding'] !== 'identity') return undefined;
  if (status === 206) return digits(/^bytes \d+-\d+\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1]);
  return digits(headers['content-length']) ?? (head.length < BLOCK_BYTES ? head.length : undefined);
}

const digits = (text: string | undefined): number | undefined =>
  text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
