import type { DownloadProgress } from '../files/index.ts';

/** What a line of progress tells. */
interface ProgressLine extends Pick<DownloadProgress, 'receivedBytes' | 'totalBytes' | 'estimatedBytes'> {
  readonly bytesPerSecond?: number | undefined;
}

const BAR_CHARACTERS = 24;
/** A shorter bar tells nothing. */
const MIN_BAR_CHARACTERS = 6;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** One line: `[######------------------]  25 %  12.5 MB of 50.0 MB  3.1 MB/s  0:12`. @param columns of the terminal */
export function progressLine(
  { receivedBytes, totalBytes, estimatedBytes, bytesPerSecond }: ProgressLine,
  columns = 80,
): string {
  const size = totalBytes ?? estimatedBytes;
  const share = size ? Math.min(receivedBytes / size, 1) : undefined;
  const width = Math.max(columns - 1, 0);
  /** What is left out on a narrow terminal comes first: the bar, then what is left out before the time left. */
  const parts = {
    rate: bytesPerSecond && `${formatBytes(bytesPerSecond)}/s`,
    bytes: `${formatBytes(receivedBytes)}${size ? ` of ${totalBytes === undefined ? 'about ' : ''}${formatBytes(size)}` : ''}`,
    // Rounded down: 100 % is the end.
    percent: share !== undefined && `${String(Math.floor(share * 100)).padStart(3)} %`,
    left: bytesPerSecond && size && size > receivedBytes && formatDuration((size - receivedBytes) / bytesPerSecond),
  };
  const line = () => [parts.percent, parts.bytes, parts.rate, parts.left].filter(Boolean).join('  ');
  for (const name of ['rate', 'bytes', 'percent'] as const) {
    if (line().length > width && line() !== parts[name]) parts[name] = '';
  }
  const text = line();
  const room = Math.min(BAR_CHARACTERS, width - text.length - '[]  '.length);
  if (share === undefined || room < MIN_BAR_CHARACTERS) return text.slice(0, width);
  return `[${'#'.repeat(Math.floor(share * room)).padEnd(room, '-')}]  ${text}`;
}

/** Three digits: `12.5 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? Math.round(value) : value.toPrecision(3)} ${UNITS[unit]}`;
}

/** `0:12`, `1:02:03`. */
function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}

const INTERVAL_MS = 100;
/** The rate is that of the last seconds. */
const RATE_WINDOW_MS = 5_000;
const CLEAR_LINE = '\r\u001b[K';

interface ProgressBar {
  update(progress: DownloadProgress): void;
  /** Removes the line, for other text. */
  clear(): void;
}

/** A line on a terminal that is written again with each change, at most ten times a second. */
export function createProgressBar(
  terminal: { write(text: string): unknown; readonly columns?: number },
  now: () => number = performance.now.bind(performance),
): ProgressBar {
  let shownAtMs = Number.NEGATIVE_INFINITY;
  let samples: { readonly atMs: number; readonly bytes: number }[] = [];
  return {
    update(progress) {
      const atMs = now();
      const isLast = progress.receivedBytes === progress.totalBytes;
      if (!isLast && atMs - shownAtMs < INTERVAL_MS) return;
      shownAtMs = atMs;
      samples = [
        ...samples.filter((sample) => atMs - sample.atMs <= RATE_WINDOW_MS),
        { atMs, bytes: progress.receivedBytes },
      ];
      const [first = { atMs, bytes: 0 }] = samples;
      const seconds = (atMs - first.atMs) / 1000;
      const bytesPerSecond = seconds > 0 ? Math.max(progress.receivedBytes - first.bytes, 0) / seconds : undefined;
      terminal.write(CLEAR_LINE + progressLine({ ...progress, bytesPerSecond }, terminal.columns || undefined));
    },
    clear: () => void terminal.write(CLEAR_LINE),
  };
}
