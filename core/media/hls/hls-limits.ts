/** The playlist is malformed, exceeds a limit, or is protected by DRM. */
export class PlaylistError extends Error {
  override readonly name = 'PlaylistError';
}

/** Characters of one tag or URI. Signed URLs of large services have 2,000. */
export const MAX_LINE_CHARS = 16_384;
/** Characters of one URI, and of the URL that URIs are relative to. */
export const MAX_URL_CHARS = 8_192;
/** Lines that are not empty: enough for ten tags of each of 100,000 segments. */
export const MAX_LINES = 1_000_000;
/** Segments of a media playlist: four days of segments of four seconds. */
export const MAX_SEGMENTS = 100_000;
/** Attributes of one tag. RFC 8216 defines 15 for EXT-X-STREAM-INF, the most of all tags. */
export const MAX_ATTRIBUTES = 64;
/** Definitions of one playlist. */
export const MAX_VARIABLES = 64;
/** Characters of all lines of one playlist after variables are substituted: a short playlist must not become a long one. */
export const MAX_SUBSTITUTED_CHARS = 8 * 1024 * 1024;
