/** Figures as a reader of one language writes them. */
export interface Format {
  /** `1,234`. */
  number(value: number): string;
  /** `12.3 MB`: powers of a thousand. */
  bytes(bytes: number): string;
  /** `1.2 MB/s`. */
  speed(bytesPerSecond: number): string;
  /** `about 3 min` style without the words: `2 min, 5 sec`. Seconds. */
  duration(seconds: number): string;
  /** `1:02:03`. Seconds. */
  clock(seconds: number): string;
  /** `129 kbit/s`. */
  bitrate(kilobitsPerSecond: number): string;
  /** `42%` of a share between 0 and 1. */
  percent(share: number): string;
  /** `5 minutes ago`. Epoch milliseconds. */
  ago(at: number, now: number): string;
}

export function createFormat(locale: string): Format {
  throw new Error(locale);
}
