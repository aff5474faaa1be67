/** Rules of the HLS text format. All of them run in time linear in the length of the text. */

/** Bytes of an AES-128 initialization vector. */
export const IV_BYTES = 16;

/** Whether the text is an HLS playlist (RFC 8216 §4.3.1.1). A byte order mark is tolerated. */
export const isHlsPlaylist = (text: string): boolean => /^\ufeff?#EXTM3U/.test(text);

/** Whether the playlist is complete (EXT-X-ENDLIST, RFC 8216 §4.3.3.4): a recording, or a live stream that has ended. */
const hasEndList = (text: string): boolean => /^#EXT-X-ENDLIST/m.test(text);

/**
 * Whether a complete playlist has only whole seconds, as before version 3 (RFC 8216 §4.3.2.1): the sum of many rounded
 * durations is not a duration to rely on.
 */
export const isRounded = (text: string): boolean => hasEndList(text) && !/^#EXTINF:[ \t]*\d*\.\d/m.test(text);

/** The initialization vector of a segment without an IV attribute: its media sequence number (RFC 8216 §5.2). */
export function ivOfSequence(sequence: number): Buffer {
  const iv = Buffer.alloc(IV_BYTES);
  iv.writeBigUInt64BE(BigInt(sequence), IV_BYTES - 8);
  return iv;
}
