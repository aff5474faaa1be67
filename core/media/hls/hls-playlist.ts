import { type MediaSection, RelativeSection, type Segment, type Timeline, trimGaps } from '../timeline/index.ts';
import { type HlsKey, type HlsRange, readHlsEntries } from './hls-reader.ts';
import { isHlsPlaylist, isRounded, ivOfSequence, MAX_URL_CHARS, PlaylistError } from './hls-text.ts';

/** A media playlist lists segments; a master playlist lists other playlists, of which the best is selected. */
export type HlsPlaylist =
  | { readonly kind: 'media'; readonly timeline: Timeline }
  | { readonly kind: 'master'; readonly bestUrl: string };

export interface HlsPlaylistOptions {
  /** URL of the playlist after redirects: URIs in it are relative to this. */
  readonly url: string;
  readonly maxSegments: number;
}

/** RFC 8216 §6.3.4 bases reloads on the target duration, which is required; some playlists lack it. */
const DEFAULT_TARGET_SECONDS = 6;

/**
 * Parses an HLS playlist (RFC 8216 §4). The URLs of segments are resolved when they are read: a playlist of 100,000 short
 * URIs below a long URL does not become 100,000 long URLs.
 * @throws PlaylistError
 */
export function parseHlsPlaylist(text: string, { url, maxSegments }: HlsPlaylistOptions): HlsPlaylist {
  if (!isHlsPlaylist(text)) throw new PlaylistError('Not an HLS playlist');
  if (url.length > MAX_URL_CHARS) throw new PlaylistError('The URL of the playlist is too long');
  const entries = readHlsEntries(text, maxSegments);
  const { segments, variants, isComplete, mediaSequence, targetDuration } = entries;

  if (variants.length > 0) {
    const best = variants.reduce((a, b) => (b.bandwidth > a.bandwidth ? b : a));
    return { kind: 'master', bestUrl: sectionOf(best.uri, url).url };
  }
  if (entries.isProtected) throw new PlaylistError('The playlist is protected by DRM');

  const inits = new Map<unknown, MediaSection>();
  let isDiscontinuity = false;
  const timed = segments.map((entry, index): Segment => {
    const { uri, range, key, map } = entry;
    const sequence = mediaSequence + index;
    const seconds = entry.seconds ?? targetDuration ?? 0;
    // A discontinuity at a gap applies to the next segment with media.
    isDiscontinuity ||= entry.isDiscontinuity;
    // The URI of a gap must not be requested (draft-pantos-hls-rfc8216bis §4.4.4.7): it need not even be valid.
    if (entry.isGap) return { sequence, seconds, content: { url: '' }, isGap: true };
    if (map && !inits.has(map)) inits.set(map, sectionOf(map.uri, url, map.range, initKey(map.key), sequence));
    const init = map && inits.get(map);
    const segment = { sequence, seconds, content: sectionOf(uri, url, range, key, sequence), init, isDiscontinuity };
    isDiscontinuity = false;
    return segment;
  });
  return {
    kind: 'media',
    timeline: {
      segments: isComplete ? trimGaps(timed) : timed,
      isComplete,
      isRounded: isRounded(text),
      reloadSeconds: targetDuration ?? DEFAULT_TARGET_SECONDS,
    },
  };
}

/** An initialization section has no sequence number to derive an IV from (RFC 8216 §4.3.2.5). */
function initKey(key: HlsKey | undefined): HlsKey | undefined {
  if (key && !key.iv) throw new PlaylistError('Encrypted initialization section without an IV');
  return key;
}

function sectionOf(uri: string | undefined, base: string, range?: HlsRange, key?: HlsKey, sequence = 0): MediaSection {
  if (key && key.method !== 'AES-128')
    throw new PlaylistError(`Unsupported encryption method ${key.method.slice(0, 20)}`);
  const section = new RelativeSection(checkedUri(uri), base, range);
  if (!key) return section;
  return section.withCipher({ keyUri: checkedUri(key.uri), iv: () => key.iv ?? ivOfSequence(sequence) });
}

/** Whether a reference is valid does not depend on the path of its base: a short one saves time. */
function checkedUri(uri: string | undefined): string {
  if (!uri || !URL.canParse(uri, 'http://host/')) throw new PlaylistError('Invalid URI in playlist');
  return uri;
}
