import { parsePythonJson } from '../../media/index.ts';
import type { WorkerFailure } from '../worker/index.ts';

type Info = Readonly<Record<string, unknown>>;

/**
 * The info dict that `yt-dlp --dump-single-json` prints.
 * @returns undefined when it printed none: `null`, nothing, or something else
 */
export function readInfo(stdout: string): Info | undefined {
  const text = stdout.trim();
  if (!text.startsWith('{')) return undefined;
  const info = parsePythonJson(text);
  return isInfo(info) ? info : undefined;
}

/** Whether it is a playlist none of whose listed entries could be resolved: its result is the failure of the first one. */
export const isEmptyPlaylist = ({ _type: type, entries }: Info): boolean =>
  (type === 'playlist' || type === 'multi_video') && !(Array.isArray(entries) && entries.some(Boolean));

const isInfo = (value: unknown): value is Info => typeof value === 'object' && value !== null && !Array.isArray(value);

/** yt-dlp ended without an info dict and without an error. */
export const NO_OUTPUT: WorkerFailure = { kind: 'crash', message: 'yt-dlp printed no info' };
