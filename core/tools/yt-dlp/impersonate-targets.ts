import type { YtDlp } from '../tools.ts';
import { queryYtDlp } from './query-yt-dlp.ts';

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
