import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { problems } from '../../../core/api/index.ts';
import type { Egress, GuardedResponse } from '../../../core/egress/index.ts';
import { EgressRefused, UpstreamError } from '../../../core/errors/index.ts';
import { formatRange, requestHeaders } from '../../../core/http/index.ts';
import type { Log } from '../../../core/log/index.ts';
import type { Track } from '../../../core/state/index.ts';
import type { ChunkSizer } from './chunk-sizer.ts';
import { classifyResponse, type Entity, type RequestedRange, type ResponseOutcome } from './classify-response.ts';
import type { SourceLimits } from './limits.ts';
import { waitAfter } from './retry-policy.ts';

/** One thing at a source: a file, a segment, a playlist. */
export interface UpstreamTarget {
  /** Where it is now. */
  locate(signal: AbortSignal): Promise<Location>;
  /** Finds it again after its URL was refused. @throws Problem, Expired when that cannot be */
  renew(location: Location, isGone: boolean, signal: AbortSignal): Promise<void>;
  /** What is known of it; every answer must fit, and adds what it says. */
  entity: Entity;
  /** How much to ask for at once; absent: all that is wanted. */
  readonly chunks?: ChunkSizer;
  /** Absent: it is always asked for by ranges. */
  readonly ranges?: RangeNeed;
}

/** Whether a source refuses whoever asks for a whole thing without a Range; shared by all things that it has. */
export interface RangeNeed {
  isKnown: boolean;
  /** How much to ask of such a source at once: never an open end, which some of them refuse as well. */
  readonly chunks: ChunkSizer;
}

export interface Location {
  readonly url: string;
  readonly track: Pick<Track, 'headers' | 'cookies'>;
  readonly generation: number;
}

export interface UpstreamRequestDependencies {
  readonly egress: Pick<Egress, 'request'>;
  /** The outgoing identity that the links were resolved through. */
  readonly identity: string;
  readonly limits: SourceLimits;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  /** Called when the source complains of too much. */
  readonly onBusy?: (() => void) | undefined;
}

/** Bytes on their way: `skip` of them lie before what was wanted; then `length` follow, or all that come. */
export interface UpstreamBody {
  /** Where they come from, after redirects. */
  readonly url: string;
  /** The source was asked for a range and sent all it has. */
  readonly isWhole: boolean;
  readonly body: Readable;
  readonly skip: number;
  readonly length: number | undefined;
  /** HTTP tells where it ends. If not, it ends when its connection does, however soon that is (RFC 9112 §6.3). */
  readonly isEndTold: boolean;
}

/** Failures in a row, kept by whoever reads, who also knows when there was progress. */
export interface RetryState {
  failures: number;
}

type AskOptions = UpstreamRequestDependencies & { readonly target: UpstreamTarget; readonly patience: RetryState };
type Bytes = Extract<ResponseOutcome, { kind: 'bytes' }>;

/**
 * Asks until the source answers with the bytes wanted, or some of the first of them.
 * @throws Problem 404 or 502 when it does not
 */
export async function fetchRange(
  options: AskOptions,
  wanted: RequestedRange,
  signal: AbortSignal,
): Promise<UpstreamBody> {
  const { target } = options;
  const { ranges } = target;
  /** What was refused without a Range is asked for with one. */
  let isTrial = false;
  for (;;) {
    const location = await target.locate(signal);
    const chunks = target.chunks ?? (isTrial || ranges?.isKnown ? ranges?.chunks : undefined);
    const range = bounded(wanted, chunks, target.chunks === undefined, isTrial);
    const response = await request(options, location, range, signal);
    if (!response) continue;
    const verdict = classifyResponse(response, range, target.entity);
    if (verdict.kind === 'bytes') {
      if (isTrial && ranges && response.status === 206) ranges.isKnown = true;
      return take(target, chunks, range, response, verdict);
    }

    discard(response);
    switch (verdict.kind) {
      case 'expired':
      case 'refused':
        if (isSmallerWorthAsking(chunks, range)) break;
        isTrial = !isTrial && ranges !== undefined && range.last === undefined && mayWantRange(response.status);
        if (isTrial) break;
        if (verdict.kind === 'refused') throw refusal(verdict.total, target.entity);
        await target.renew(location, verdict.gone, signal);
        break;
      case 'again':
        if (verdict.isBusy) options.onBusy?.();
        await backOff(options, new UpstreamError(verdict.reason), signal, verdict.retryAfter);
        break;
      case 'changed':
        throw problems.fetchFailed(new UpstreamError('The source has other bytes now'));
      default:
        throw problems.fetchFailed(new UpstreamError(verdict.reason));
    }
  }
}

/**
 * Waits before the next attempt.
 * @throws Problem 502 when there have been too many
 */
export async function backOff(
  { patience, limits, now, log }: AskOptions,
  reason: unknown,
  signal: AbortSignal,
  retryAfter?: string,
): Promise<void> {
  patience.failures += 1;
  const wait = waitAfter(patience.failures, retryAfter, limits, now());
  if (wait === undefined) throw problems.fetchFailed(reason);
  log.info('Asking the source again', { failures: patience.failures, wait, reason: String(reason) });
  await sleep(wait, undefined, { signal });
}

/** Undefined: it failed, and may be asked again. */
async function request(
  options: AskOptions,
  { url, track }: Location,
  { first, last }: RequestedRange,
  signal: AbortSignal,
): Promise<GuardedResponse | undefined> {
  const { egress, identity, limits } = options;
  const range: Record<string, string> = last === undefined ? {} : { range: formatRange({ first, last }) };
  try {
    // A segment may stand on another host than its list: the source named it, so its headers go there, as players do it.
    const headersFor = requestHeaders({ url, headers: withoutRange(track.headers), cookies: track.cookies });
    return await egress.request(url, {
      headersFor: (hop) => ({ ...headersFor(hop), 'accept-encoding': 'identity', ...range }),
      identity,
      stallTimeoutMs: limits.stallTimeout,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressRefused) throw problems.notFound(error);
    if (!(error instanceof UpstreamError)) throw problems.fetchFailed(error);
    await backOff(options, error, signal);
    return undefined;
  }
}

function take(
  target: UpstreamTarget,
  chunks: ChunkSizer | undefined,
  range: RequestedRange,
  { url, status, headers, body }: GuardedResponse,
  { skip, length, entity }: Bytes,
): UpstreamBody {
  target.entity = entity;
  if (skip === 0 && length !== undefined && range.last !== undefined) chunks?.granted(length);
  const isEndTold =
    status === 206 ||
    headers['content-length'] !== undefined ||
    /\bchunked\b/i.test(headers['transfer-encoding'] ?? '');
  return { url, isWhole: status === 200 && range.last !== undefined, body, skip, length, isEndTold };
}

/** `always`: where no end is wanted, too. A trial is small: what refuses it refuses any. */
function bounded(
  wanted: RequestedRange,
  chunks: ChunkSizer | undefined,
  always: boolean,
  isTrial: boolean,
): RequestedRange {
  const { first, last } = wanted;
  if (!chunks || (last === undefined && !always)) return wanted;
  const end = first + (isTrial ? chunks.next() : chunks.limit()) - 1;
  return { ...wanted, last: Math.min(last ?? end, end) };
}

/** Not what says that there is nothing, or that who asks is nobody. */
const mayWantRange = (status: number): boolean => ![401, 404, 410].includes(status);

const isSmallerWorthAsking = (chunks: ChunkSizer | undefined, { first, last }: RequestedRange): boolean =>
  last !== undefined && (chunks?.refused(last - first + 1) ?? false);

const refusal = (total: number | undefined, { size }: Entity) =>
  problems.fetchFailed(
    total !== undefined && size !== undefined && total !== size
      ? new UpstreamError('The source has other bytes now')
      : new RangeRefused('The source refuses the range'),
  );

/** The cause of a Problem: what was asked for is perhaps not there, though something else may be. */
export class RangeRefused extends UpstreamError {}

/** What a format may bring along that only this reader decides. */
const withoutRange = (headers: Track['headers']): Track['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(if-)?range$|^accept-encoding$/i.test(name)));

/** Ends a body that nobody reads. A short one is read away, so that its connection can serve the next request. */
function discard({ headers, body }: GuardedResponse): void {
  body.on('error', () => undefined);
  if (Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= 16_384) body.resume();
  else body.destroy();
}
