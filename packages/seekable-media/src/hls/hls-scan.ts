import { durationOf, type ManifestFacts, segmentAfterFirstMinute } from '../timeline/index.ts';
import { duration } from '../values.ts';
import { type HlsKey, readHlsEntries } from './hls-reader.ts';
import { hasWholeSeconds, isHlsPlaylist, ivOfSequence, MAX_SEGMENTS } from './hls-text.ts';

/**
 * Extracts what probing needs of an HLS playlist (RFC 8216 §4.3), protected ones included.
 * @returns undefined when the text is not a playlist or names no segment
 * @throws PlaylistError when it is malformed or exceeds a limit: a stream of it would fail
 */
export function scanHlsPlaylist(text: string, maxSegments = MAX_SEGMENTS): ManifestFacts | undefined {
  if (!isHlsPlaylist(text)) return undefined;
  const entries = readHlsEntries(text, maxSegments);
  const { segments, variants, isComplete, mediaSequence, targetDuration } = entries;
  const index = Math.max(
    0,
    segments.findIndex(({ isGap }) => !isGap),
  );
  const first = segments[index];
  const segment = (first ?? variants[0])?.uri;
  if (!segment) return undefined;
  const timed = isComplete
    ? segments.map((each) => ({ ...each, seconds: each.seconds ?? targetDuration ?? Number.NaN }))
    : [];
  // Of DRM, segments have no key.
  const key = entries.isProtected ? entries.firstKey : first?.key;
  const later = segmentAfterFirstMinute(timed);
  return {
    durationSeconds: duration(durationOf(timed)),
    ...(isComplete && hasWholeSeconds(text) && { isRounded: true as const }),
    segment,
    initialization: first?.map?.uri,
    key: key?.uri,
    iv: ivOf(key, mediaSequence + index),
    ...(later && { later: { uri: later.uri, offset: later.range?.first ?? 0 } }),
  };
}

const ivOf = (key: HlsKey | undefined, sequence: number): Buffer | undefined =>
  key?.method === 'AES-128' ? (key.iv ?? ivOfSequence(sequence)) : undefined;
