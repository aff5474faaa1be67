import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program is on the PATH. */
export const findOnPath = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));

/** Whether a program is on the PATH. */
export const isThere = (program: string): boolean => findOnPath(program) !== undefined;

/** Names of the desktop program of Chromium. */
export const CHROMIUM = ['chromium', 'chromium-browser', 'google-chrome'] as const;

/** The FFmpeg of the tests by its path: child processes of the service have no PATH to find it by. */
export const ffmpegPath = (): string => findOnPath('ffmpeg') ?? 'ffmpeg';
