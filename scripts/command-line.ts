import { type ParseArgsConfig, parseArgs } from 'node:util';
import { messageOf } from '../core/errors/index.ts';

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** `parseArgs` of Node. @throws UsageError */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}
