import { ReelayError } from '../index.ts';

/** What the program says to its shell. */
export const EXIT_CODES = { done: 0, failed: 1, usage: 2, refused: 3, temporary: 4, interrupted: 130 } as const;

/** Failures of this machine, not of the instance or the source. */
const LOCAL_CODES = ['not-writable', 'file-exists', 'folder-in-use'];

/** The exit code of what ends the program. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof ReelayError) || LOCAL_CODES.includes(error.code)) return EXIT_CODES.failed;
  return error.isTemporary ? EXIT_CODES.temporary : EXIT_CODES.refused;
}

/** Without control characters: an instance may send any text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach the terminal
export const printable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');

/** What has failed, as a part of a sentence. */
export const reasonOf = ({ message }: Error): string => printable(message).replace(/\.$/, '');
