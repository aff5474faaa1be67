import { duration } from '../duration.ts';
import type { ManifestFacts } from '../timeline/index.ts';
import { hasEndList, isHlsPlaylist, ivOfSequence } from './hls-text.ts';

/**
 * Extracts facts from an HLS playlist (RFC 8216 §4.3) by one regular expression each, without building a segment list:
 * what probing needs, at a fraction of the cost of `parseHlsPlaylist`.
 * @returns undefined when the text is not a playlist or names no segment
 */
export function scanHlsPlaylist(text: string): ManifestFacts | undefined {
  if (!isHlsPlaylist(text)) return undefined;
  // Not split into lines: a few MB may be millions of them.
  const segment = /^[^#\r\n].*/m.exec(text.replace(/^\ufeff/, ''))?.[0];
  if (!segment) return undefined;
  const uriOf = (tag: RegExp) => /\bURI="([^"]+)"/.exec(tag.exec(text)?.[0] ?? '')?.[1];
  const [initialization, key] = [uriOf(/^#EXT-X-MAP:.*/m), uriOf(/^#EXT-X-KEY:.*/m)];
  const iv = ivOf(text);
  const durationSeconds = hasEndList(text) ? duration(sumOfDurations(text)) : undefined;
  return { durationSeconds, segment, initialization, key, iv };
}

function ivOf(playlist: string): Buffer | undefined {
  const key = /^#EXT-X-KEY:.*/m.exec(playlist)?.[0] ?? '';
  if (!/\bMETHOD=AES-128\b/.test(key)) return undefined;
  const hex = /\bIV=0x([\da-f]{1,32})\b/i.exec(key)?.[1];
  if (hex) return Buffer.from(hex.padStart(32, '0'), 'hex');
  return ivOfSequence(Number(/^#EXT-X-MEDIA-SEQUENCE:[ \t]*(\d{1,15})/m.exec(playlist)?.[1] ?? 0));
}

/** Seconds, rounded to the microsecond to remove floating-point noise. */
function sumOfDurations(playlist: string): number {
  let seconds = 0;
  for (const [, written] of playlist.matchAll(/^#EXTINF:[ \t]*([\d.]+)/gm)) seconds += Number(written);
  return Math.round(seconds * 1e6) / 1e6;
}
