import type { WriteStream } from 'node:tty';
import type { Activity } from '@reelay/yt-dlp-worker';
import pino from 'pino';
import { describeError, type Log, logThrough, withoutSecrets } from '../core/log/index.ts';

/** Output for the operator: lines, and below them one of what is being done. */
export interface Terminal {
  say(line: string): void;
  /**
   * Shows an activity, until the next one or `done`. A TTY shows its bytes and seconds in one line that is drawn again and
   * stays when it ends; elsewhere there is a line at the start and one per quarter done.
   */
  progress(activity: Activity): void;
  /** Ends the activity. */
  done(): void;
  /** Takes the line of the activity away while something else is written. */
  interrupt(write: () => void): void;
}

type Output = Pick<WriteStream, 'write' | 'isTTY'>;

/** Plain lines, or one JSON object per line: level, time and message. */
export type LogFormat = 'plain' | 'json';

const REDRAW_INTERVAL_MS = 1_000;

/** @param now milliseconds of a monotonic clock */
export function createTerminal(
  out: Output,
  format: LogFormat = 'plain',
  now: () => number = () => performance.now(),
): Terminal {
  if (format === 'json') {
    const toJson = (msg: string) => JSON.stringify({ level: 30, time: new Date().toISOString(), msg });
    return createLines((line) => void out.write(`${toJson(line)}\n`));
  }
  return out.isTTY ? createDrawing(out, now) : createLines((line) => void out.write(`${line}\n`));
}

function createDrawing(out: Output, now: () => number): Terminal {
  let shown: { readonly activity: Activity; readonly since: number; readonly timer: NodeJS.Timeout } | undefined;
  const clear = () => shown && out.write('\r\u001b[K');
  const draw = () => {
    if (!shown) return;
    clear();
    out.write(progressLine(shown.activity, (now() - shown.since) / 1000));
  };
  const interrupt = (write: () => void) => {
    clear();
    write();
    draw();
  };
  const done = () => {
    if (!shown) return;
    clearInterval(shown.timer);
    const seconds = (now() - shown.since) / 1000;
    clear();
    // What took no time is not worth a line.
    if (seconds >= 1) out.write(`${progressLine(shown.activity, seconds)}\n`);
    shown = undefined;
  };
  return {
    say: (line) => interrupt(() => out.write(`${line}\n`)),
    progress(activity) {
      if (!shown || titleOf(shown.activity) !== titleOf(activity)) {
        done();
        shown = { activity, since: now(), timer: setInterval(draw, REDRAW_INTERVAL_MS).unref() };
      } else shown = { ...shown, activity };
      draw();
    },
    done,
    interrupt,
  };
}

function createLines(say: (line: string) => void): Terminal {
  let lastMilestone = '';
  return {
    say,
    progress(activity) {
      const { bytes = 0, totalBytes } = activity;
      const milestone = `${titleOf(activity)} ${totalBytes ? Math.floor((bytes / totalBytes) * 4) : 0}`;
      if (milestone !== lastMilestone) say(progressLine(activity));
      lastMilestone = milestone;
    },
    done: () => undefined,
    interrupt: (write) => write(),
  };
}

const titleOf = ({ name, tool, step }: Activity): string => (step === 'fetch' ? `Fetching ${tool}` : name);

/** `Fetching FFmpeg 12 of 45 MB, 8 s`. */
function progressLine(activity: Activity, seconds = 0): string {
  const { bytes, totalBytes } = activity;
  const size = totalBytes
    ? ` ${megabytes(bytes ?? 0)} of ${megabytes(totalBytes)} MB`
    : bytes
      ? ` ${megabytes(bytes)} MB`
      : '';
  return `${titleOf(activity)}${size}${seconds >= 1 ? `, ${Math.floor(seconds)} s` : ''}`;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

/**
 * Writes warnings and errors, one line per event.
 * @param terminal whose line of progress a plain line must not end up in
 */
export function createProcessLog(
  out: Pick<WriteStream, 'write'>,
  terminal: Pick<Terminal, 'interrupt'>,
  format: LogFormat = 'plain',
): Log {
  if (format === 'plain') return createPlainLog((text) => terminal.interrupt(() => out.write(text)));
  return logThrough(pino({ level: 'warn', base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, out));
}

type Fields = Readonly<Record<string, unknown>>;

/** `Warning: Installed version does not work (tool: yt-dlp, reason: …)`; an error of an error follows with its stack. */
function createPlainLog(write: (text: string) => void): Log {
  const lineOf = (label: string, message: string, fields: Fields) => {
    const facts = Object.entries(fields).map(([name, value]) => `${name}: ${toPlain(value)}`);
    return `${label}: ${message}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}\n`;
  };
  return {
    info: () => undefined,
    warn: (message, fields = {}) => write(lineOf('Warning', message, fields)),
    error(message, { error, ...fields } = {}) {
      const stack = error === undefined ? [] : describeError(error, true).split('\n');
      write(lineOf('Error', message, fields) + stack.map((line) => `${printable(line)}\n`).join(''));
    },
  };
}

const toPlain = (value: unknown): string =>
  printable(value instanceof Error ? describeError(value) : String(withoutSecrets(value)));

/** Texts of an upstream may contain sequences that control the terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, ' ');
