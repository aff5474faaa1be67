import { run } from '../process/index.ts';
import type { YtDlp } from '../tools.ts';

/** A first start on a cold disk compiles yt-dlp, which takes seconds. */
const TIMEOUT_MS = 60_000;

export interface QueryOptions {
  /** For what the program writes. @default the program has no such folder */
  readonly home?: string;
  readonly signal?: AbortSignal | undefined;
}

/** What yt-dlp prints for an option that asks it about itself. @throws Error in one line when it does not run */
export async function queryYtDlp(
  { command }: Pick<YtDlp, 'command'>,
  flags: readonly string[],
  { home, signal }: QueryOptions = {},
): Promise<string> {
  const [program, ...args] = command;
  const env = { LANG: 'C.UTF-8', ...(home !== undefined && { HOME: home, TMPDIR: home }) };
  const said = await run(program, [...args, '--ignore-config', ...flags], { env, timeoutMs: TIMEOUT_MS, signal });
  return said.toString().trim();
}

/** The version that yt-dlp reports. @throws Error in one line when it does not run */
export const readYtDlpVersion = (ytDlp: Pick<YtDlp, 'command'>, options?: QueryOptions): Promise<string> =>
  queryYtDlp(ytDlp, ['--version'], options);
