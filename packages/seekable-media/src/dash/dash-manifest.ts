import type { ManifestFacts } from '../timeline/index.ts';
import { duration } from '../values.ts';

/** Characters that are searched for the root element: comments may precede it. */
const MAX_ROOT_OFFSET = 64 * 1024;
/** Ends at the next bracket of either kind, so that no two attempts read the same characters. */
const ROOT = /<(?:\w+:)?MPD\b([^<>]*)>/;
/** xs:duration. Years and months have no fixed length: there are none of them. */
const DURATION = /^P(?:0+Y)?(?:0+M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;

/**
 * Extracts facts from the root element of a DASH manifest (ISO/IEC 23009-1 §5.3.1).
 * @returns undefined when the text is not a DASH manifest
 */
export function scanDashManifest(text: string): ManifestFacts | undefined {
  const root = ROOT.exec(text.slice(0, MAX_ROOT_OFFSET))?.[1];
  if (root === undefined) return undefined;
  const written = /\bmediaPresentationDuration\s*=\s*["']([^"']+)["']/.exec(root)?.[1] ?? '';
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] =
    DURATION.exec(written)?.map((part) => Number(part ?? 0)) ?? [];
  return { durationSeconds: duration(((days * 24 + hours) * 60 + minutes) * 60 + seconds) };
}
