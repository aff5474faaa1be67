import { type Segment, type Timeline, trimGaps } from '../timeline/index.ts';
import { readHlsEntries } from './hls-reader.ts';
import { EncryptedPlaylist, hasWholeSeconds, isHlsPlaylist, MAX_URL_CHARS, PlaylistError } from './hls-text.ts';
import { type PackedSegments, packSegments, requireValidUri, unpackSegments } from './packed-segments.ts';

/** A media playlist lists segments; a master playlist lists other playlists, of which the best is selected. */
export type HlsPlaylist =
  | (Omit<Timeline, 'segments'> & { readonly kind: 'media'; readonly segments: Iterable<Segment> })
  | { readonly kind: 'master'; readonly bestUrl: string };

/** A playlist that was read, with URIs as written. */
export type PackedPlaylist =
  | { readonly kind: 'master'; readonly bestUri: string }
  | (Omit<Timeline, 'segments'> & {
      readonly kind: 'media';
      /** Undefined: there are none. */
      readonly segments: PackedSegments | undefined;
    });

/** RFC 8216 §6.3.4 bases reloads on the target duration, which is required; some playlists lack it. */
const DEFAULT_TARGET_SECONDS = 6;

/** Reads an HLS playlist (RFC 8216 §4). @throws PlaylistError */
export function readHlsPlaylist(text: string, maxSegments: number): PackedPlaylist {
  if (!isHlsPlaylist(text)) throw new PlaylistError('Not an HLS playlist');
  const entries = readHlsEntries(text, maxSegments);
  const { segments, variants, isComplete, targetDuration, discontinuitySequence } = entries;
  if (variants.length > 0) {
    const best = variants.reduce((a, b) => (b.bandwidth > a.bandwidth ? b : a));
    return { kind: 'master', bestUri: requireValidUri(best.uri) };
  }
  if (entries.isProtected) throw new EncryptedPlaylist('The playlist is protected by DRM');
  // A recording begins with its first media and ends with its last.
  const played = isComplete ? trimGaps(segments) : segments;
  const [first] = played;
  const mediaSequence = entries.mediaSequence + (first ? segments.indexOf(first) : 0);
  return {
    kind: 'media',
    segments: first && packSegments(played, { mediaSequence, targetDuration }),
    isComplete,
    isRounded: isComplete && hasWholeSeconds(text),
    reloadSeconds: targetDuration ?? DEFAULT_TARGET_SECONDS,
    discontinuitySequence,
  };
}

/**
 * A playlist that `readHlsPlaylist` has read. The URLs of segments are resolved when they are read: a playlist of 100,000
 * short URIs below a long URL does not become 100,000 long URLs.
 * @param url of the playlist after redirects: URIs in it are relative to this
 * @throws PlaylistError when the URL is too long
 */
export function unpackHlsPlaylist(packed: PackedPlaylist, url: string): HlsPlaylist {
  if (url.length > MAX_URL_CHARS) throw new PlaylistError('The URL of the playlist is too long');
  if (packed.kind === 'master') return { kind: 'master', bestUrl: URL.parse(packed.bestUri, url)?.href ?? '' };
  return { ...packed, segments: packed.segments ? unpackSegments(packed.segments, url) : [] };
}
