import { addAbortSignal, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { withRetries } from '../../core/concurrency/index.ts';
import type { Egress } from '../../core/egress/index.ts';
import { DestinationFailed, EgressRefused, UpstreamError } from '../../core/errors/index.ts';
import type { Representation } from '../outputs/index.ts';

/** A file that is to be stored. */
export interface OutgoingFile extends Pick<Representation, 'read' | 'size' | 'etag' | 'estimatedBytes' | 'mimeType'> {
  /** Relative to the destination. */
  readonly path: string;
  /** Whether it can be read from any byte on. */
  readonly isRanged: boolean;
}

/** What the destination holds of an unfinished file. */
export interface Upload {
  readonly path: string;
  /** What S3 calls it, or a part of the name that an unfinished file has until then. */
  readonly id: string;
  /** Of the file that its parts are of: those of another one are of no use. */
  readonly etag?: string | undefined;
  readonly size?: number | undefined;
}

/** The delivery that a file is sent for. */
export interface Sending {
  /** What a former attempt has left. */
  readonly upload: Upload | undefined;
  /** To be awaited before the first byte is stored: a process that ends afterwards leaves nothing behind that is not known. */
  readonly onUpload: (upload: Upload) => Promise<void>;
  /** Called when bytes are stored. */
  readonly onStored: (bytes: number) => void;
  /** To be awaited before a file that is whole gets its name. @throws when another process sends the delivery meanwhile */
  readonly onWhole: () => Promise<void>;
  /** Aborted when nothing further is to be begun. */
  readonly stop: AbortSignal;
  /** Aborted when what is being sent is of no use. */
  readonly cancelled: AbortSignal;
}

/** Storage for files. All throw DestinationFailed when it refuses or fails. */
export interface Destination {
  /** Bytes of the file at a path; undefined: there is none. */
  sizeOf(path: string): Promise<number | undefined>;
  /** Stores a file whole, or not at all. @throws what reading it throws */
  store(file: OutgoingFile, sending: Sending): Promise<void>;
  /** Removes what it holds of an unfinished file. */
  discard(upload: Upload): Promise<void>;
}

/** One attempt of a request. */
export interface DestinationRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'MKCOL' | 'MOVE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is destroyed in the end. */
  readonly body?: Buffer | Readable;
  /** Of the body. Absent: unknown. */
  readonly bodyBytes?: number | undefined;
  /** Called when a part of the body is handed to the connection. */
  readonly onSent?: (bytes: number) => void;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
}

export interface DestinationResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface SendOptions {
  /** Aborted when neither another attempt is to be begun nor a stream to be sent any further. */
  readonly stop?: AbortSignal | undefined;
  /** What an answer says of a failure. @default any status but 2xx, and 207, which has those of several files */
  readonly failureOf?: (response: DestinationResponse) => DestinationFailed | undefined;
  /** @default 5 */
  readonly maxRetries?: number;
}

/**
 * Sends a request, again while its failures may pass.
 * @param prepare makes each attempt
 * @throws DestinationFailed; what the body fails with
 */
export type SendRequest = (
  prepare: () => DestinationRequest | Promise<DestinationRequest>,
  options?: SendOptions,
) => Promise<DestinationResponse>;

export interface SenderOptions {
  readonly egress: Pick<Egress, 'request'>;
  /** Milliseconds for which the destination may accept or send no byte. @default 120000 */
  readonly stallTimeoutMs?: number | undefined;
  /** Milliseconds before the first repetition. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
}

const STALL_TIMEOUT_MS = 120_000;
const SLICE_BYTES = 64 * 1024;
/** A list of 1,000 parts takes half of it. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** S3 sends blanks while it puts a large object together, which takes minutes. */
const MAX_RESPONSE_STALLS = 5;
const MAX_RETRIES = 5;

/**
 * Sends requests to a destination, through the egress guard, without following redirects. A stall ends them, however long the
 * body takes in all.
 */
export function createSender(options: SenderOptions): SendRequest {
  const { egress, stallTimeoutMs = STALL_TIMEOUT_MS, pauseMs, signal } = options;
  const attempt = async ({
    method,
    url,
    headers,
    body,
    bodyBytes,
    onSent,
    signal: ended = signal,
  }: DestinationRequest) => {
    const stalled = new AbortController();
    let isSettled = false;
    const onStall = () => stalled.abort(new DestinationFailed(`No byte for ${stallTimeoutMs / 1000} seconds.`));
    let timer = setTimeout(onStall, stallTimeoutMs);
    // A body that is not read to its end is closed after the answer.
    const watch = (isWatched: boolean) => {
      clearTimeout(timer);
      if (isWatched && !isSettled) timer = setTimeout(onStall, stallTimeoutMs);
    };
    let failure: { readonly error: unknown } | undefined;
    async function* watched(chunks: Iterable<Buffer> | AsyncIterable<Buffer>) {
      let sent = 0;
      try {
        watch(false);
        for await (const chunk of chunks) {
          for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
            watch(true);
            const slice = chunk.subarray(at, at + SLICE_BYTES);
            yield slice;
            sent += slice.length;
            onSent?.(slice.length);
          }
          // Waiting for the source is no stall of the destination.
          watch(false);
        }
        if (bodyBytes !== undefined && sent !== bodyBytes) throw new UpstreamError('The file has another length');
      } catch (error) {
        failure = { error };
        throw error;
      } finally {
        watch(true);
      }
    }
    try {
      const response = await egress.request(url, {
        ...{ method, headers, maxRedirects: 0, stallTimeoutMs: 0 },
        ...(body && { body: Readable.from(watched(body instanceof Readable ? body : [body]), { objectMode: false }) }),
        ...(bodyBytes !== undefined && { bodyBytes }),
        signal: AbortSignal.any([signal, ended, stalled.signal]),
      });
      const endsAt = Date.now() + MAX_RESPONSE_STALLS * stallTimeoutMs;
      const text = await readText(response.body, () => Date.now() < endsAt && watch(true));
      return { status: response.status, headers: response.headers, text };
    } catch (error) {
      signal.throwIfAborted();
      ended.throwIfAborted();
      stalled.signal.throwIfAborted();
      if (failure) throw failure.error;
      throw toDestinationError(error);
    } finally {
      isSettled = true;
      clearTimeout(timer);
      if (body instanceof Readable) body.destroy();
    }
  };
  return (prepare, { stop, failureOf = failureByStatus, maxRetries = MAX_RETRIES } = {}) => {
    const isPassing = (error: unknown) => error instanceof DestinationFailed && error.isPassing;
    const ends = stop ? AbortSignal.any([signal, stop]) : signal;
    const checked = async () => {
      const request = await prepare();
      if (stop && request.body instanceof Readable) addAbortSignal(stop, request.body);
      const response = await attempt(request);
      const failure = failureOf(response);
      if (failure) throw failure;
      return response;
    };
    return withRetries(checked, { isPassing, pauseMs, maxRetries, signal: ends });
  };
}

async function readText(body: Readable, onData: () => void): Promise<string> {
  let bytes = 0;
  body.on('data', ({ length }: Buffer) => {
    onData();
    bytes += length;
    if (bytes > MAX_RESPONSE_BYTES) body.destroy(new DestinationFailed('Its answer is too long.'));
  });
  return text(body);
}

function toDestinationError(cause: unknown): DestinationFailed {
  if (cause instanceof DestinationFailed) return cause;
  if (cause instanceof EgressRefused && (cause.reason === 'private-address' || cause.reason === 'unknown-host'))
    return new DestinationFailed('The address of the storage is not on the public internet.', {
      reason: cause.reason,
      cause,
    });
  const hasNoTrust = CERTIFICATE_ERRORS.test(codeOf(cause));
  return new DestinationFailed(
    hasNoTrust ? 'The certificate of the storage is not trusted.' : 'The connection failed.',
    {
      ...(hasNoTrust && { reason: 'destination-refused' }),
      cause,
    },
  );
}

/** Codes of Node for a certificate that it does not accept. */
const CERTIFICATE_ERRORS = /CERT|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/;

/** Of the innermost cause. */
const codeOf = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined
    ? codeOf(error.cause)
    : String((error as NodeJS.ErrnoException | undefined)?.code);

/** Statuses that another attempt may not have. */
const PASSING_STATUSES = new Set([408, 423, 425, 429]);

/** @param what the storage answered besides its status */
export const refusal = (status: number, what = ''): DestinationFailed =>
  new DestinationFailed(`The storage answered ${status}${what && ` ${what}`}.`, {
    reason: (status >= 500 && status !== 507) || PASSING_STATUSES.has(status) ? undefined : 'destination-refused',
  });

export const failureByStatus = ({ status }: Pick<DestinationResponse, 'status'>): DestinationFailed | undefined =>
  status >= 200 && status < 300 && status !== 207 ? undefined : refusal(status);

/** For what a delivery can do without, and its credentials need not allow: `catch(unlessRefused)`. */
export function unlessRefused(error: unknown): undefined {
  if (!(error instanceof DestinationFailed) || error.reason !== 'destination-refused') throw error;
}

/** Bytes of a file by the answer to HEAD, which has no code that says why it is refused. */
export async function sizeBy(head: Promise<DestinationResponse>): Promise<number | undefined> {
  const length = (await head.catch(unlessRefused))?.headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Before the first repetition: a destination has half a minute in all. */
export const PAUSE_MS = 1_000;
