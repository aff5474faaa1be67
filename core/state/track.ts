import { setTimeout as sleep } from 'node:timers/promises';
import { UpstreamError } from '../errors/index.ts';
import type { Delivery, Track } from './resource.ts';

/** What follows from a delivery. Other code asks this table instead of comparing deliveries. */
export interface DeliveryCapabilities {
  /** As documents call it. */
  readonly name: string;
  /** Values of yt-dlp's `protocol`. */
  readonly protocols: readonly string[];
  /**
   * One file, read by byte offset and sent as it is, whose stated size is exact. Otherwise a list of segments of unknown
   * size, which FFmpeg remuxes to MP4.
   */
  readonly isFile: boolean;
  /** Resolving lists the segments: loading the list again means resolving again. Otherwise the list is fetched. */
  readonly isListedByResolving: boolean;
  /** Its manifest may name no codecs, so that only segments tell them. */
  readonly mayOmitCodecs: boolean;
  /** Its list may state durations in whole seconds. */
  readonly mayRoundDurations: boolean;
  /** The bitrate of a video includes the audio that belongs to it (RFC 8216 §4.3.4.2). */
  readonly bitrateIncludesAudio: boolean;
}

/** The table. A new kind of source starts with an entry here; its name never changes once published. */
export const deliveries: Readonly<Record<Delivery, DeliveryCapabilities>> = {
  direct: {
    name: 'one file',
    protocols: ['http', 'https'],
    isFile: true,
    isListedByResolving: false,
    mayOmitCodecs: false,
    mayRoundDurations: false,
    bitrateIncludesAudio: false,
  },
  hls: {
    name: 'HLS',
    protocols: ['m3u8', 'm3u8_native'],
    isFile: false,
    isListedByResolving: false,
    mayOmitCodecs: true,
    mayRoundDurations: true,
    bitrateIncludesAudio: true,
  },
  dash: {
    name: 'DASH',
    protocols: ['http_dash_segments'],
    isFile: false,
    isListedByResolving: true,
    mayOmitCodecs: false,
    mayRoundDurations: false,
    bitrateIncludesAudio: false,
  },
};

/** The capabilities of a track. */
export const capabilitiesOf = ({ delivery }: Pick<Track, 'delivery'>): DeliveryCapabilities => deliveries[delivery];

/** @returns undefined for a protocol that is not supported */
export const findDelivery = (protocol: string): Delivery | undefined =>
  (Object.keys(deliveries) as Delivery[]).find((delivery) => deliveries[delivery].protocols.includes(protocol));

/** Longest wait for a track that its source serves only from a moment on. */
export const MAX_AVAILABILITY_WAIT_MS = 20_000;

/**
 * Milliseconds until the source serves a track; 0 when it does.
 * @param now epoch milliseconds
 */
export const availabilityDelayMs = ({ availableAt = 0 }: Pick<Track, 'availableAt'>, now: number): number =>
  Math.max(0, availableAt * 1000 - now);

export interface AvailabilityOptions {
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/**
 * Waits until the source serves a track.
 * @throws UpstreamError `delayed`, at once, when that takes longer than `maxWaitMs`
 */
export async function untilAvailable(
  track: Pick<Track, 'availableAt'>,
  { maxWaitMs, signal, now = Date.now }: AvailabilityOptions,
): Promise<void> {
  const delayMs = availabilityDelayMs(track, now());
  if (delayMs === 0) return;
  const retryAfterSeconds = Math.ceil(delayMs / 1000);
  if (delayMs > maxWaitMs)
    throw new UpstreamError('The source does not serve the format yet', { reason: 'delayed', retryAfterSeconds });
  await sleep(delayMs, undefined, { signal });
}

type Overridden = Pick<Track, 'overrides'>;

/** The URL of a segment or initialization section, with the query that its source requires. */
export const segmentUrl = ({ overrides }: Overridden, url: string): string => withQuery(url, overrides?.segmentQuery);

/** Where a key is requested that a playlist names by its URL. */
export const keyUrl = ({ overrides }: Overridden, url: string): string =>
  overrides?.keyUrl ?? withQuery(url, overrides?.keyQuery ?? overrides?.segmentQuery);

/** The key of all encrypted segments, where the site has sent it with the format. */
export const knownKey = ({ overrides }: Overridden): Buffer | undefined =>
  overrides?.key === undefined ? undefined : Buffer.from(overrides.key, 'hex');

/** The initialization vector in place of the one that a playlist states. */
export const initializationVector = ({ overrides }: Overridden, stated: Buffer): Buffer =>
  overrides?.iv === undefined ? stated : Buffer.from(overrides.iv, 'hex');

/** Parameters of the query replace those of the URL with the same name. */
function withQuery(url: string, query: string | undefined): string {
  const parsed = query ? URL.parse(url) : null;
  if (!parsed) return url;
  const added = new URLSearchParams(query);
  for (const name of new Set(added.keys())) parsed.searchParams.delete(name);
  for (const [name, value] of added) parsed.searchParams.append(name, value);
  return parsed.href;
}
