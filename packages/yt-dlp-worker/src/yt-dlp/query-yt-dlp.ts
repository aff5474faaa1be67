import { run } from '../process/program.ts';
import type { YtDlp } from '../tools.ts';

/** A first start on a cold disk compiles yt-dlp, which takes seconds. */
const TIMEOUT_MS = 60_000;

interface QueryOptions {
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

/** Client, operating system and library; a row of what the build lacks has a further column. */
const ROW = /^([a-z]+(?:-[\d.]+)?) +([a-z]+(?:-[\d.]+)?|-) +\S+$/i;

/**
 * Lists the browsers that a build of yt-dlp can imitate, such as `chrome-131:macos-14`. Empty for a build without curl_cffi.
 * @throws Error in one line when yt-dlp does not run
 */
export const listImpersonateTargets = async (ytDlp: YtDlp): Promise<string[]> => {
  const flags = ['--no-update', '--no-plugin-dirs', '--color', 'never', '--list-impersonate-targets'];
  return readImpersonateTargets(await queryYtDlp(ytDlp, flags));
};

/** Reads the table that `--list-impersonate-targets` prints. */
export const readImpersonateTargets = (table: string): string[] =>
  table.split('\n').flatMap((line) => {
    const [, client, os] = ROW.exec(line.trimEnd()) ?? [];
    if (!client || !os || client === 'Client') return [];
    return [(os === '-' ? client : `${client}:${os}`).toLowerCase()];
  });

/** Whether one of the targets of a build is the requested one, which may leave out versions and operating system. */
export const offersTarget = (offered: readonly string[], requested: string): boolean =>
  offered.some((target) => {
    const [client = '', os = ''] = target.split(':');
    const [wantedClient = '', wantedOs = ''] = requested.split(':');
    return isPart(wantedClient, client) && (wantedOs === '' || isPart(wantedOs, os));
  });

/** A name alone includes all versions. */
const isPart = (wanted: string, offered: string): boolean => offered === wanted || offered.split('-', 1)[0] === wanted;
