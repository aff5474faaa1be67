import type { WriteStream } from 'node:tty';

/** What the operator sees: one line a fact, and one line that moves while something is under way. */
export interface Terminal {
  say(line: string): void;
  /** Shows an activity; on a terminal the line is redrawn, elsewhere it is said once and at each further quarter. */
  progress(activity: string, done?: number, total?: number): void;
}

export function createTerminal(out: Pick<WriteStream, 'write' | 'isTTY'>): Terminal {
  let drawn = false;
  let saidLast = '';
  const clear = () => {
    if (drawn) out.write('\r\u001b[K');
    drawn = false;
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
        drawn = true;
        return;
      }
      const quarter = done !== undefined && total ? Math.floor((done / total) * 4) : 0;
      const said = `${activity} ${quarter}`;
      if (said !== saidLast) out.write(`${line}\n`);
      saidLast = said;
    },
  };
}

/** `Downloading FFmpeg 12.3 of 45.0 MB`. Sizes in bytes. */
export function progressLine(activity: string, done?: number, total?: number): string {
  if (done === undefined) return activity;
  return total ? `${activity} ${megabytes(done)} of ${megabytes(total)} MB` : `${activity} ${megabytes(done)} MB`;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
