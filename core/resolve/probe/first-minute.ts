import { discardResponse } from '@reelay/guarded-fetch';
import { dashTimeline, unpackFragments } from '@reelay/seekable-media/dash';
import { offsetAfterFirstMinute, segmentAfterFirstMinute } from '@reelay/seekable-media/timeline';
import { availabilityDelayMs, segmentUrl } from '@reelay/source/track';
import pLimit from 'p-limit';
import { hostMatcher } from '../../config/index.ts';
import { capabilitiesOf, type Track } from '../../state/index.ts';
import { type Candidate, webUrl } from '../yt-dlp/index.ts';
import { manifestKinds } from './probe-manifest.ts';
import { collect, type Probe, requestTrack } from './request-track.ts';

/** Tracks that are asked for, the best ones, and how many of them at once. */
const MAX_PROBED = 40;
const CONCURRENCY = 6;
/** For all tracks together: a source that does not answer in it is taken to serve the whole. */
const TIMEOUT_MS = 3_000;
/** Bytes that are requested from behind the first minute. */
const LATER_BYTES = 1024;
/** Later bytes are refused, or the source behaves as if they were not there. */
const REFUSED: readonly number[] = [401, 403, 404, 410, 416];

/**
 * Marks the candidates whose hosts refuse what comes after the first minute. Any other failure says nothing of that.
 * @param probedHosts hosts, with their subdomains, that are asked
 */
export async function markPartial(
  candidates: readonly Candidate[],
  probedHosts: readonly string[] = [],
  probe: Probe,
): Promise<Candidate[]> {
  const isProbed = hostMatcher(probedHosts);
  const isUncertain = ({ track }: Candidate) =>
    isProbed(firstUrl(track)) && availabilityDelayMs(track, Date.now()) === 0;
  const uncertain = candidates.filter(isUncertain).slice(0, MAX_PROBED);
  if (uncertain.length === 0) return [...candidates];
  const signal = AbortSignal.any([probe.callerSignal, AbortSignal.timeout(TIMEOUT_MS)]);
  const request = { ...probe, signal, parsing: { ...probe.parsing, signal }, isProbed };
  const refused = await pLimit(CONCURRENCY).map(uncertain, ({ track }) =>
    isRefusedLater(track, request).catch(() => false),
  );
  probe.callerSignal.throwIfAborted();
  const partial = new Set(uncertain.filter((_, index) => refused[index]));
  return candidates.map((candidate) => (partial.has(candidate) ? { ...candidate, stopsEarly: true } : candidate));
}

const firstUrl = ({ url, fragmentBaseUrl }: Track): string => fragmentBaseUrl ?? url;

type Request = Probe & { readonly isProbed: (url: string) => boolean };

async function isRefusedLater(track: Track, request: Request): Promise<boolean> {
  const part = await partAfterFirstMinute(track, request);
  if (!part || !request.isProbed(part.url)) return false;
  const range = { first: part.offset, last: part.offset + LATER_BYTES - 1 };
  const response = await requestTrack(track, { ...request, url: part.url, range });
  discardResponse(response);
  return REFUSED.includes(response.status);
}

interface Part {
  readonly url: string;
  /** Where its first byte is. */
  readonly offset: number;
}

/** What of a track is behind its first minute; undefined where it is not longer, or that cannot be told. */
async function partAfterFirstMinute(track: Track, request: Request): Promise<Part | undefined> {
  const { url, fragments, fragmentBaseUrl, durationSeconds, sizeBytes } = track;
  if (fragments) {
    const { segments } = dashTimeline([...unpackFragments(fragments)], { isLive: false, baseUrl: fragmentBaseUrl });
    const segment = segmentAfterFirstMinute([...segments]);
    return segment && { url: segmentUrl(track, segment.content.url), offset: segment.content.range?.first ?? 0 };
  }
  if (capabilitiesOf(track).isFile) {
    const offset = offsetAfterFirstMinute(sizeBytes, durationSeconds);
    return offset === undefined ? undefined : { url, offset };
  }
  const response = await requestTrack(track, request);
  const kind = manifestKinds[track.delivery];
  const facts = await kind?.scan(await collect(response, kind.maxBytes), request.parsing);
  const later = webUrl(facts?.later?.uri, response.url);
  return later === undefined ? undefined : { url: segmentUrl(track, later), offset: facts?.later?.offset ?? 0 };
}
