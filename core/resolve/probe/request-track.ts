import { setTimeout as sleep } from 'node:timers/promises';
import { appendChunk, discardResponse, type GuardedResponse } from '@reelay/guarded-fetch';
import { formatRange, requestHeaders } from '@reelay/source/request-headers';
import type { Egress } from '../../egress/index.ts';
import { EgressRefused, NotDeliverable, NotFound, UpstreamError } from '../../errors/index.ts';
import type { ParsingOptions } from '../../parsing/index.ts';
import type { Track } from '../../state/index.ts';

export interface ProbeOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly identity: string;
  readonly signal: AbortSignal;
  /** Whose share of the processes that parse is used. @default the service itself */
  readonly client?: string;
  /** The link that is being resolved. */
  readonly link: string;
  /** For one track. @default 5000 */
  readonly trackTimeoutMs?: number;
  /** For all tracks of an item together. @default 9000 */
  readonly totalTimeoutMs?: number;
}

/** How the tracks of one item are read. */
export interface Probe extends Pick<ProbeOptions, 'egress' | 'identity'> {
  /** Aborted once the time for all tracks is over. */
  readonly signal: AbortSignal;
  /** Aborted when the last request for the item has been cancelled. */
  readonly callerSignal: AbortSignal;
  /** For one track. */
  readonly trackTimeoutMs: number;
  /** Separate limit: waiting for a parsing process is not the source's fault. */
  readonly parsing: ParsingOptions;
  /** Whether the egress guard admits a suspicious host, by origin. */
  readonly admitted: Map<string, Promise<boolean>>;
}

/** Default of `totalTimeoutMs`. */
export const TOTAL_TIMEOUT_MS = 9_000;

/** Begins to read the tracks of an item: the time for all of them runs from now on. */
export function startProbe(options: ProbeOptions): Probe {
  const { egress, identity, client = '', link, signal: callerSignal } = options;
  const { trackTimeoutMs = 5_000, totalTimeoutMs = TOTAL_TIMEOUT_MS } = options;
  const signal = AbortSignal.any([callerSignal, AbortSignal.timeout(totalTimeoutMs)]);
  // yt-dlp has reached the host of the link through the guard.
  const admitted = new Map([[new URL(link).origin, Promise.resolve(true)]]);
  return { egress, identity, signal, callerSignal, trackTimeoutMs, parsing: { client, signal }, admitted };
}

/** What of a track is requested. */
export interface TrackRequest extends Pick<Probe, 'egress' | 'identity' | 'signal'> {
  /** @default that of the track */
  readonly url?: string;
  /** @default all of it */
  readonly range?: { readonly first: number; readonly last: number };
}

/** Until a request is sent again. */
const RETRY_DELAY_MS = 500;

/**
 * Requests a track as its source expects it, and once more when that has failed in a way that may pass: 429, 5xx, a connection
 * that broke.
 */
export async function requestTrack(track: Track, request: TrackRequest): Promise<GuardedResponse> {
  const { egress, identity, signal, url = track.url, range } = request;
  const headersFor = requestHeaders(track);
  const options = {
    headersFor: (to: URL) => ({ ...headersFor(to), ...(range && { range: formatRange(range) }) }),
    identity,
    signal,
    isDecoded: true,
  };
  const response = await egress.request(url, options).catch((error) => {
    if (!(error instanceof UpstreamError)) throw error;
  });
  if (response && response.status !== 429 && response.status < 500) return response;
  if (response) discardResponse(response);
  await sleep(RETRY_DELAY_MS, undefined, { signal });
  return egress.request(url, options);
}

/** At most `maxBytes` of a body; the rest is not read. */
export async function readBody({ body }: GuardedResponse, maxBytes: number): Promise<Buffer> {
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

/** Ends the reads of one track. */
export const trackSignal = ({ signal, trackTimeoutMs }: Probe): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(trackTimeoutMs)]);

/** The first bytes of a track, and the URL that has answered. */
export async function fetchHead(
  track: Track,
  maxBytes: number,
  probe: Probe,
): Promise<{ readonly bytes: Buffer; readonly url: string }> {
  const response = await requestTrack(track, { ...probe, signal: trackSignal(probe) });
  const bytes = await readBody(response, maxBytes);
  if (response.status !== 200) throw statusError(response.status);
  return { bytes, url: response.url };
}

/** What a status says of a track. */
export function statusError(status: number): Error {
  if ([401, 403, 451].includes(status))
    return new NotDeliverable('The source refused to provide this media.', { reason: 'refused' });
  if ([404, 410].includes(status))
    return new NotFound(`Upstream returned ${status}`, { reason: status === 410 ? 'gone' : 'not-found' });
  return new UpstreamError(`Upstream returned ${status}`, { reason: status === 429 ? 'rate-limited' : 'site-error' });
}

/** Host names that may lead to a private address: without a dot, IP literals, and zones that are never public. */
const SUSPICIOUS_HOST = /^[^.]+$|^[\d.]+$|^\[|\.(?:local|localhost|internal|lan|home|corp|intranet|arpa)$/i;

/**
 * Checks the hosts of URLs by the egress guard: a page or a manifest may name any address, and yt-dlp returns it unchecked. Only
 * suspicious hosts are requested, each once: streams are guarded again when they connect.
 * @throws EgressRefused when one of the URLs is on a private host; the signal's reason once it is aborted
 */
export async function requireAllowed(urls: readonly (string | undefined)[], probe: Probe): Promise<void> {
  for (const url of urls) {
    const { hostname = '', origin = '' } = url ? new URL(url) : {};
    if (!url || !SUSPICIOUS_HOST.test(hostname)) continue;
    const admitted = probe.admitted.get(origin) ?? isAdmitted(url, probe);
    probe.admitted.set(origin, admitted);
    if (!(await admitted)) throw new EgressRefused('The media is on a private host');
  }
}

async function isAdmitted(url: string, { egress, identity, signal }: Probe): Promise<boolean> {
  const headers = { range: formatRange({ first: 0, last: 0 }) };
  try {
    discardResponse(await egress.request(url, { headers, identity, signal, maxRedirects: 0 }));
    return true;
  } catch (error) {
    if (error instanceof EgressRefused) return false;
    // It may have been aborted before the name was resolved. Any other failure says nothing about the address.
    signal.throwIfAborted();
    return true;
  }
}
