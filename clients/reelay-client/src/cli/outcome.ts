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

/** What failures of a link are, where the instance names their type alone. */
const WORDS: Readonly<Record<string, string>> = {
  'bad-url': 'the link is not valid',
  'unknown-host': 'the site of the link was not found: check its spelling',
  'private-address': 'the instance opens public links alone',
  'no-media': 'the page has no video or audio: use the link of the item itself',
  'not-found': 'nothing was found at the link',
  'not-started': 'it has not started yet',
  ended: 'the broadcast has ended, and there is no recording',
  gone: 'the site has removed it',
  refused: 'the site refuses it: it may be private, paid, or for people who are signed in',
  drm: 'it is protected',
  'rate-limited': 'the site limits the instance: try again later',
  'site-error': 'the site answered with an error: try again in a moment',
  'site-timeout': 'the site took too long: try again in a moment',
  'site-changed': 'the site has changed, and the instance cannot read it now',
};

/** What has failed, as a part of a sentence. */
export const reasonOf = (error: Error): string => {
  const words = error instanceof ReelayError && !error.detail ? WORDS[error.code] : undefined;
  return words ?? printable(error.message).replace(/\.$/, '');
};
