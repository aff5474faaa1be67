import type { WriteStream } from 'node:tty';
import pino from 'pino';
import { describeError, fieldsWithoutSecrets, type Log, withoutSecrets } from '../../core/log/index.ts';
import type { LogFormat, Terminal } from './terminal.ts';

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
  const logger = pino(
    {
      level: 'warn',
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: fieldsWithoutSecrets },
    },
    out,
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
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
