import { setTimeout as sleep } from 'node:timers/promises';
import type { DashSegmentList } from '@reelay/seekable-media/dash';
import { UpstreamError } from './errors.ts';
import type { RequestIdentity } from './request-headers.ts';

/** A file or a list of segments at a source, and how it is found again. */
export interface SourceTrack extends RequestIdentity {
  /**
   * Finds it again once its URL has expired or was refused. Absent: it is at this URL only.
   * @throws any error, which ends the reading
   */
  readonly renew?: (signal: AbortSignal) => Promise<SourceTrack>;
  /** Names it in the log, and its list in caches. */
  readonly id?: string;
  /** The outgoing route that its URLs are bound to. @default the direct one */
  readonly egress?: string;
  /** Maximum range that the source serves per request (yt-dlp's `downloader_options.http_chunk_size`). */
  readonly chunkBytes?: number;
  /** Epoch seconds after which the URL is known to be invalid. */
  readonly urlExpiresAt?: number;
  /** Epoch seconds before which the source refuses the URL (yt-dlp's `available_at`). Absent: it was served when it was found. */
  readonly availableAt?: number;
  /** Bytes. Only an exact figure may become a Content-Length. */
  readonly sizeBytes?: number;
  readonly sizeIsExact?: boolean;
  /** From the container where it was probed (then exact), else from the source's metadata. */
  readonly durationSeconds?: number;
  readonly isLive?: boolean;
  /** File format without a dot: segments of `flv` are joined in their own way. */
  readonly container?: string;
  /** The segments of DASH. Absent if the list was too large to store: renewing restores it. */
  readonly fragments?: DashSegmentList | undefined;
  /** The URL that fragments are relative to: kept once, since it may be long. Absent: they are absolute. */
  readonly fragmentBaseUrl?: string;
  readonly overrides?: SegmentOverrides;
}

/** A list of segments that is read as one MP4 file. */
export interface TrackFile {
  /** Whether the size of its audio alone is known. Absent: not read yet. */
  readonly isAudioSized?: boolean;
  /** It is read without its video. @default false */
  readonly isAudioAlone?: true;
}

/** What holds for the segments and keys of an HLS or DASH track in place of what its playlist says. */
export interface SegmentOverrides {
  /** Query of each segment URL; of key URLs too, unless there is one for them. */
  readonly segmentQuery?: string;
  readonly keyQuery?: string;
  readonly keyUrl?: string;
  /** AES-128 key and initialization vector: 32 hexadecimal digits. */
  readonly key?: string;
  readonly iv?: string;
}

/** Longest wait for a track that its source serves only from a moment on. */
export const MAX_AVAILABILITY_WAIT_MS = 20_000;

/**
 * Milliseconds until the source serves a track; 0 when it does.
 * @param now epoch milliseconds
 */
export const availabilityDelayMs = ({ availableAt = 0 }: Pick<SourceTrack, 'availableAt'>, now: number): number =>
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
  track: Pick<SourceTrack, 'availableAt'>,
  options: AvailabilityOptions,
): Promise<void> {
  const { maxWaitMs, signal, now = Date.now } = options;
  const delayMs = availabilityDelayMs(track, now());
  if (delayMs === 0) return;
  if (delayMs > maxWaitMs) {
    const retryAfterSeconds = Math.ceil(delayMs / 1000);
    throw new UpstreamError('The source does not serve the format yet', { reason: 'delayed', retryAfterSeconds });
  }
  await sleep(delayMs, undefined, { signal });
  // Timers may end some milliseconds early.
  await untilAvailable(track, options);
}

type Overridden = Pick<SourceTrack, 'overrides'>;

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
