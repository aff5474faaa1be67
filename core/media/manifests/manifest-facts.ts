import { duration } from '../duration.ts';

/** What the text of a manifest says of the stream behind it. */
export interface ManifestFacts {
  /** Seconds; undefined when it is live or does not say. */
  readonly durationSeconds?: number;
  /** Where its first segment, its initialization section and its key are, as written. */
  readonly segment?: string;
  readonly initialization?: string;
  readonly key?: string;
  /** How the first segment is enciphered with AES-128 (RFC 8216 §5.2): 16 bytes; absent: in another way, or not at all. */
  readonly iv?: Buffer;
}

/** Reads an HLS playlist (RFC 8216 §4.3). Undefined: not a playlist, or one of nothing. */
export function readHlsPlaylist(text: string): ManifestFacts | undefined {
  if (!/^\ufeff?#EXTM3U/.test(text)) return undefined;
  // Never as lines: a few MB may be millions of them.
  const segment = /^[^#\r\n].*/m.exec(text.replace(/^\ufeff/, ''))?.[0];
  if (!segment) return undefined;
  const uriOf = (tag: RegExp) => /\bURI="([^"]+)"/.exec(tag.exec(text)?.[0] ?? '')?.[1];
  const [initialization, key] = [uriOf(/^#EXT-X-MAP:.*/m), uriOf(/^#EXT-X-KEY:.*/m)];
  const iv = ivOf(text);
  const durationSeconds = /^#EXT-X-ENDLIST/m.test(text) ? duration(secondsOf(text)) : undefined;
  return {
    ...(durationSeconds && { durationSeconds }),
    segment,
    ...(initialization && { initialization }),
    ...(key && { key }),
    ...(iv && { iv }),
  };
}

/** Without an IV of its own a segment takes its number. */
function ivOf(playlist: string): Buffer | undefined {
  const key = /^#EXT-X-KEY:.*/m.exec(playlist)?.[0] ?? '';
  if (!/\bMETHOD=AES-128\b/.test(key)) return undefined;
  const sequence = /^#EXT-X-MEDIA-SEQUENCE:[ \t]*(\d{1,15})/m.exec(playlist)?.[1] ?? '0';
  const hex = /\bIV=0x([\da-f]{1,32})\b/i.exec(key)?.[1] ?? BigInt(sequence).toString(16);
  return Buffer.from(hex.padStart(32, '0'), 'hex');
}

/**
 * Whether a recording's list only knows whole seconds, as before version 3 (§4.3.2.1): what many of them add up to is no
 * duration to promise anything by.
 */
export const isRounded = (playlist: string): boolean =>
  /^#EXT-X-ENDLIST/m.test(playlist) && !/^#EXTINF:[ \t]*\d*\.\d/m.test(playlist);

/** To the microsecond: what many rounded figures add up to. */
function secondsOf(playlist: string): number {
  let seconds = 0;
  for (const [, written] of playlist.matchAll(/^#EXTINF:[ \t]*([\d.]+)/gm)) seconds += Number(written);
  return Math.round(seconds * 1e6) / 1e6;
}

/** Characters in which the root element of a manifest begins and ends, whatever comments stand before it. */
const ROOT_WITHIN = 64 * 1024;
/** Up to the next bracket of either kind, so that no two attempts read the same characters. */
const ROOT = /<(?:\w+:)?MPD\b([^<>]*)>/;
const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;

/** Reads a DASH manifest (ISO/IEC 23009-1 §5.3.1). Undefined: not one. */
export function readDashManifest(text: string): ManifestFacts | undefined {
  const root = ROOT.exec(text.slice(0, ROOT_WITHIN))?.[1];
  if (root === undefined) return undefined;
  const written = /\bmediaPresentationDuration\s*=\s*["']([^"']+)["']/.exec(root)?.[1] ?? '';
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] =
    DURATION.exec(written)?.map((part) => Number(part ?? 0)) ?? [];
  const durationSeconds = duration(((days * 24 + hours) * 60 + minutes) * 60 + seconds);
  return durationSeconds ? { durationSeconds } : {};
}
