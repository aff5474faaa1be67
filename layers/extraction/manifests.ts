/** What the text of a manifest says of the stream behind it. */
export interface ManifestFacts {
  /** Seconds; undefined when it is live or does not say. */
  readonly durationSeconds?: number;
  /** Where its first segment, its initialization section and its key are, as written. */
  readonly segment?: string;
  readonly initialization?: string;
  readonly key?: string;
}

/** Reads an HLS playlist (RFC 8216 §4.3). Undefined: not a playlist, or one of nothing. */
export function readHlsPlaylist(text: string): ManifestFacts | undefined {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  if (!lines[0]?.startsWith('#EXTM3U')) return undefined;
  const segment = lines.find((line) => line !== '' && !line.startsWith('#'));
  if (!segment) return undefined;
  const uriOf = (tag: string) => /\bURI="([^"]+)"/.exec(lines.find((line) => line.startsWith(tag)) ?? '')?.[1];
  const [initialization, key] = [uriOf('#EXT-X-MAP:'), uriOf('#EXT-X-KEY:')];
  const seconds = lines.reduce((sum, line) => sum + Number(/^#EXTINF:\s*([\d.]+)/.exec(line)?.[1] ?? 0), 0);
  const isWhole = lines.some((line) => line.startsWith('#EXT-X-ENDLIST'));
  return {
    ...(isWhole && seconds > 0 && { durationSeconds: Math.round(seconds * 1e6) / 1e6 }),
    segment,
    ...(initialization && { initialization }),
    ...(key && { key }),
  };
}

const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;

/** Reads a DASH manifest (ISO/IEC 23009-1 §5.3.1). Undefined: not one. */
export function readDashManifest(text: string): ManifestFacts | undefined {
  const root = /<(?:\w+:)?MPD\b([^>]*)>/.exec(text)?.[1];
  if (root === undefined) return undefined;
  const written = /\bmediaPresentationDuration\s*=\s*["']([^"']+)["']/.exec(root)?.[1] ?? '';
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] =
    DURATION.exec(written)?.map((part) => Number(part ?? 0)) ?? [];
  const total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
  return total > 0 ? { durationSeconds: total } : {};
}
