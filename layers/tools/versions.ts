/** A version of figures, as yt-dlp and FFmpeg write them: `2026.08.19`, `2026.11.20.233456`, `7.0.2-static`. */
const FIGURES = /^\D{0,2}(\d+(?:\.\d+)*)/;

const figuresOf = (version: string): number[] => (FIGURES.exec(version)?.[1] ?? '').split('.').map(Number);

/** Below zero when `a` is older than `b`. Leading zeros mean nothing: PyPI writes `2026.8.19` for `2026.08.19`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [figuresOf(a), figuresOf(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether a tag or a version may name a folder and stand in a URL: yt-dlp's are dates. */
export const isReleaseTag = (tag: string): boolean => /^\d{4}\.\d{1,2}\.\d{1,2}(\.\d{1,8})?$/.test(tag);

/** A folder's name for a version: what a stranger's `-version` says names no other place. */
export const folderNameOf = (version: string): string =>
  version
    .replaceAll(/[^\w.+-]/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 60) || 'unknown';
