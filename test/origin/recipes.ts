import list from './recipes.json' with { type: 'json' };

/** Durations in seconds: the short clip, the formats of the watch site, the long clip. */
export const SECONDS = { clip: 6, ladder: 8, long: 300 } as const;

/** An FFmpeg command that creates one or more files, with paths relative to the media folder. */
interface Recipe {
  readonly folder?: string;
  /** Arguments of FFmpeg after the common ones. */
  readonly args: readonly string[];
  /** May fail when FFmpeg lacks the encoder. */
  readonly optional?: boolean;
}

/** An AES-128 key, public. */
export const AES_KEY = Buffer.from('00112233445566778899aabbccddeeff', 'hex');

/**
 * All media of the origin: pictures that move, and a tone whose pitch rises by 50 Hz every second, for 40 seconds at a time. In
 * order: later recipes copy from earlier files. Spaces separate arguments, `␣` is a space in one.
 */
export const recipes: readonly Recipe[] = list.map(({ args, ...recipe }) => ({
  ...recipe,
  args: args.split(' ').map((argument) => argument.replaceAll('␣', ' ')),
}));
