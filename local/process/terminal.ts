import type { WriteStream } from 'node:tty';

/** Output for the operator: lines, and a progress line that is redrawn. */
export interface Terminal {
  say(line: string): void;
  /** Shows an activity. Without a TTY it prints one line at the start and one per quarter done. Sizes in bytes. */
  progress(activity: string, done?: number, total?: number): void;
}

export function createTerminal(out: Pick<WriteStream, 'write' | 'isTTY'>): Terminal {
  let isDrawn = false;
  let lastMilestone = '';
  const clear = () => {
    if (isDrawn) out.write('\r\u001b[K');
    isDrawn = false;
  };
  return {
    say(line) {
      clear();
      out.write(`${line}\n`);
    },
    progress(activity, done, total) {
      const line = progressLine(activity, done, total);
      if (out.isTTY) {
        clear();
        out.write(line);
        isDrawn = true;
        return;
      }
      const quarter = done !== undefined && total ? Math.floor((done / total) * 4) : 0;
      const milestone = `${activity} ${quarter}`;
      if (milestone !== lastMilestone) out.write(`${line}\n`);
      lastMilestone = milestone;
    },
  };
}

/** `Downloading FFmpeg 12.3 of 45.0 MB`. Sizes in bytes. */
export function progressLine(activity: string, done?: number, total?: number): string {
  if (done === undefined) return activity;
  return total ? `${activity} ${megabytes(done)} of ${megabytes(total)} MB` : `${activity} ${megabytes(done)} MB`;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
