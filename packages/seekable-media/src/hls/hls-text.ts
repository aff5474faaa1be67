/** Limits and rules of the HLS text format. All functions run in time linear in the length of the text. */

/** The playlist is malformed, or exceeds a limit. */
export class PlaylistError extends Error {
  override readonly name: string = 'PlaylistError';
}

/** Its media is protected by DRM, or encrypted in a way that is not read. */
export class EncryptedPlaylist extends PlaylistError {
  override readonly name = 'EncryptedPlaylist';
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

/** Bytes of an AES-128 initialization vector. */
export const IV_BYTES = 16;

/** Whether the text is an HLS playlist (RFC 8216 §4.3.1.1). A byte order mark is tolerated. */
export const isHlsPlaylist = (text: string): boolean => /^\ufeff?#EXTM3U/.test(text);

/**
 * Whether a playlist has only whole seconds, as before version 3 (RFC 8216 §4.3.2.1): the sum of many rounded durations is
 * not a duration to rely on.
 */
export const hasWholeSeconds = (text: string): boolean => !/^#EXTINF:[ \t]*\d*\.\d/m.test(text);

/** The initialization vector of a segment without an IV attribute: its media sequence number (RFC 8216 §5.2). */
export function ivOfSequence(sequence: number): Buffer {
  const iv = Buffer.alloc(IV_BYTES);
  iv.writeBigUInt64BE(BigInt(sequence), IV_BYTES - 8);
  return iv;
}
