/** Dotted numbers, as in versions of yt-dlp and FFmpeg: `2026.08.19`, `2026.11.20.233456`, `7.0.2-static`. */
const NUMBERS = /^\D{0,2}(\d+(?:\.\d+)*)/;

const numbersOf = (version: string): number[] => (NUMBERS.exec(version)?.[1] ?? '').split('.').map(Number);

/** Negative when `a` is older than `b`. Leading zeros are ignored: PyPI writes `2026.8.19` for `2026.08.19`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether this is a release tag of yt-dlp, a date: safe as a folder name and in a URL. */
export const isReleaseTag = (tag: string): boolean => /^\d{4}\.\d{1,2}\.\d{1,2}(\.\d{1,8})?$/.test(tag);

/** A safe folder name for a version, which a program reports about itself and may contain anything. */
export const folderNameOf = (version: string): string =>
  version
    .replaceAll(/[^\w.+-]/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 60) || 'unknown';
