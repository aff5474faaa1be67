import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRange } from './respond.ts';

/** A fault of an upstream. `times`: number of affected responses. */
export type Fault =
  /** Closes the connection after `after` bytes of a response. */
  | { readonly name: 'drop'; readonly after: number; readonly times: number }
  /** Stops sending after `after` bytes and keeps the connection open. */
  | { readonly name: 'stall'; readonly after: number; readonly times: number }
  /** Ends a response cleanly with fewer bytes than Content-Range declares. */
  | { readonly name: 'short-body'; readonly by: number; readonly times: number }
  /** Sends more bytes than Content-Range declares, chunked. */
  | { readonly name: 'long-body'; readonly by: number }
  /** Sends a range with another start. */
  | { readonly name: 'wrong-range'; readonly times: number }
  /** A 206 without Content-Range. */
  | { readonly name: 'no-range-header'; readonly times: number }
  /** Another total in Content-Range after `from` requests. */
  | { readonly name: 'wrong-total'; readonly from: number }
  /** Other bytes with another ETag (`tag`) or Last-Modified (`date`) after `from` requests. */
  | { readonly name: 'changed'; readonly from: number; readonly by: 'tag' | 'date' }
  /** A status after `from` requests, until `renew`. */
  | { readonly name: 'expire'; readonly from: number; readonly status: number }
  /** 403 for HEAD, for requests without Range, for open-ended ranges, and above `largest` bytes. */
  | { readonly name: 'strict'; readonly largest: number }
  /** 200 for every request. `length: false`: without Content-Length. */
  | { readonly name: 'ignore-range'; readonly length: boolean; readonly dropAfter?: number; readonly times?: number }
  /** 200 for every request, delimited by connection close, truncated after `after` bytes `times` times. */
  | { readonly name: 'unframed'; readonly after: number; readonly times: number }
  | { readonly name: 'throttle'; readonly bytesPerSecond: number }
  /** Resets the connection instead of a response. */
  | { readonly name: 'reset'; readonly times: number }
  /** Milliseconds before the head of each response. */
  | { readonly name: 'slow-start'; readonly milliseconds: number }
  | { readonly name: 'status'; readonly status: number; readonly times: number; readonly retryAfter?: string }
  /** Redirects to the text of `Location`, with a body that is never complete. */
  | { readonly name: 'redirect'; readonly location: string }
  /** Content-Encoding: gzip. */
  | { readonly name: 'encoded' }
  /** Correct ranges without Content-Length. */
  | { readonly name: 'chunked' };

export interface FaultOptions {
  readonly bytes: Buffer;
  readonly fault?: Fault;
  /** `null`: none. @default a digest of the bytes */
  readonly etag?: string | null;
  readonly lastModified?: string;
  readonly contentType?: string;
}

/** A request with its outcome. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly range: string | undefined;
  readonly headers: IncomingMessage['headers'];
  /** `left`: the client disconnected before the response was complete. */
  state: 'open' | 'done' | 'left';
}

export interface FaultHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  readonly seen: readonly SeenRequest[];
  /** Ends an expiry: refused requests are served again. */
  renew(): void;
}

/** A strong ETag: a digest of the bytes. */
export const etagOf = (bytes: Buffer): string => `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`;

/** Serves bytes with the Range rules of RFC 9110 §14 and one fault. Each handler has its own count of `times`. */
export function createFaultHandler(options: FaultOptions): FaultHandler {
  const { bytes, fault, contentType = 'video/mp4' } = options;
  const etag = options.etag === undefined ? etagOf(bytes) : options.etag;
  const lastModified = options.lastModified ?? 'Sat, 01 Nov 2025 10:00:00 GMT';
  const seen: SeenRequest[] = [];
  let answered = 0;
  let misdeeds = 0;
  let isRenewed = false;
  /** Whether the fault affects this response. */
  const happens = (times: number) => misdeeds < times && misdeeds++ < times;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const number = answered++;
    const range = readRange(request.headers.range, bytes.length);
    const head: Record<string, string> = { 'content-type': contentType, 'accept-ranges': 'bytes' };
    if (etag) head.etag = etag;
    if (etag !== null || options.lastModified) head['last-modified'] = lastModified;
    const refuse = (status: number, headers: Record<string, string> = {}) =>
      void response.writeHead(status, { 'content-length': 0, ...headers }).end();

    if (fault?.name === 'reset' && happens(fault.times)) return void request.socket.resetAndDestroy();
    if (fault?.name === 'slow-start') await sleep(fault.milliseconds);
    if (fault?.name === 'status' && happens(fault.times))
      return refuse(fault.status, fault.retryAfter ? { 'retry-after': fault.retryAfter } : {});
    if (fault?.name === 'redirect')
      return void response.writeHead(302, { location: fault.location, 'content-length': 1000 }).write('moved');
    if (fault?.name === 'expire' && number >= fault.from && !isRenewed) return refuse(fault.status);
    if (fault?.name === 'strict') {
      const asked = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
      if (request.method === 'HEAD' || !asked || Number(asked[2]) - Number(asked[1]) >= fault.largest)
        return refuse(403);
    }
    if (fault?.name === 'changed' && number >= fault.from) {
      if (fault.by === 'tag') head.etag = '"another"';
      else head['last-modified'] = 'Sun, 02 Nov 2025 10:00:00 GMT';
    }
    if (fault?.name === 'encoded') head['content-encoding'] = 'gzip';
    if (range === 'unsatisfiable') return refuse(416, { 'content-range': `bytes */${bytes.length}` });

    const isWhole = range === 'whole' || fault?.name === 'ignore-range' || fault?.name === 'unframed';
    const { first, last } = isWhole ? { first: 0, last: bytes.length - 1 } : range;
    let body = bytes.subarray(first, last + 1);
    if (!isWhole) {
      const total = fault?.name === 'wrong-total' && number >= fault.from ? bytes.length + 1 : bytes.length;
      const shift = fault?.name === 'wrong-range' && happens(fault.times) ? 1 : 0;
      head['content-range'] = `bytes ${first + shift}-${last + shift}/${total + shift}`;
      if (fault?.name === 'no-range-header' && happens(fault.times)) delete head['content-range'];
    }
    const isShort = fault?.name === 'short-body' && happens(fault.times);
    if (isShort) body = body.subarray(0, Math.max(body.length - fault.by, 0));
    if (fault?.name === 'long-body') body = Buffer.concat([body, Buffer.alloc(fault.by, 0x21)]);
    const isChunked =
      isShort ||
      fault?.name === 'chunked' ||
      fault?.name === 'long-body' ||
      (fault?.name === 'ignore-range' && !fault.length);
    if (!isChunked) head['content-length'] = String(body.length);

    if (fault?.name === 'unframed') {
      delete head['content-length'];
      // Node then neither uses chunked coding nor keeps the connection.
      response.removeHeader('transfer-encoding');
      if (happens(fault.times)) body = body.subarray(0, fault.after);
    }
    response.writeHead(isWhole ? 200 : 206, head);
    if (request.method === 'HEAD') return void response.end();
    if (fault?.name === 'throttle') return throttled(response, body, fault.bytesPerSecond);
    const cut = cutOf(fault);
    if (cut && body.length > cut.after && happens(cut.times)) {
      response.write(body.subarray(0, cut.after), () => {
        if (fault?.name !== 'stall') response.destroy();
      });
      return;
    }
    response.end(body);
  };

  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const entry: SeenRequest = { method, url, range: headers.range, headers, state: 'open' };
    seen.push(entry);
    response.once('close', () => {
      entry.state = response.writableFinished ? 'done' : 'left';
    });
    handle(request, response).catch(() => response.destroy());
  };
  return Object.assign(serve, {
    seen,
    renew: () => {
      isRenewed = true;
    },
  });
}

function cutOf(fault: Fault | undefined): { after: number; times: number } | undefined {
  if (fault?.name === 'drop' || fault?.name === 'stall') return fault;
  if (fault?.name === 'ignore-range' && fault.dropAfter) return { after: fault.dropAfter, times: fault.times ?? 1 };
  return undefined;
}

/** Sends at a limited rate while the client is connected. */
async function throttled(response: ServerResponse, body: Buffer, bytesPerSecond: number): Promise<void> {
  const step = Math.max(Math.floor(bytesPerSecond / 50), 1);
  const began = performance.now();
  for (let sent = 0; sent < body.length && !response.destroyed; sent += step) {
    response.write(body.subarray(sent, sent + step));
    await sleep(Math.max(began + ((sent + step) / bytesPerSecond) * 1000 - performance.now(), 0));
  }
  if (!response.destroyed) response.end();
}
