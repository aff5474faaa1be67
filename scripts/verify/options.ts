import { readFile } from 'node:fs/promises';
import { parseCommandLine, UsageError } from '../command-line.ts';

/** What to verify. */
export interface VerifyOptions {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** Links that the instance resolves and streams. */
  readonly links: readonly string[];
  /** A file with further links, of which each is resolved and its stream begun. */
  readonly linksFile: string | undefined;
  /** Waiting for maintenance and Retry-After. */
  readonly maxWaitMs: number;
  /** A private instance requires it. */
  readonly accessKey: string | undefined;
}

export const USAGE = `Use: npm run verify -- https://instance.example [--link https://site.example/video]… [--links file] [--wait seconds]

Runs the tests of test/contract that hold for any instance, by some 250 requests that change nothing. It needs the dependencies
for development: npm ci in a clone. With --link, which may be repeated, it also resolves that link and streams a few ranges of it.
With --links it resolves each link of a file, one per line, reads the beginning of its first rendition, and ends with a line for
each site. --wait bounds waiting for maintenance and Retry-After. REELAY_ACCESS_KEY is the access key of a private instance.
Exit status: 0 everything holds, 1 something does not, 2 the command line is wrong, 3 the instance does not answer.`;

const DEFAULT_WAIT_SECONDS = 180;
const MAX_LISTED_LINKS = 500;

/**
 * @param environment with REELAY_ACCESS_KEY for a private instance: arguments are visible to other users
 * @throws UsageError
 */
export function parseOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): VerifyOptions {
  const { values, positionals } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: {
      link: { type: 'string', multiple: true, default: [] },
      links: { type: 'string' },
      wait: { type: 'string', default: String(DEFAULT_WAIT_SECONDS) },
    },
  });
  const [address, ...others] = positionals;
  if (address === undefined) throw new UsageError('Name the base URL of an instance');
  if (others.length > 0) throw new UsageError(`One instance at a time, not also ${others.join(', ')}`);
  const seconds = Number(values.wait);
  if (values.wait.trim() === '' || !(seconds >= 0 && seconds <= 3_600))
    throw new UsageError(`--wait is a number of seconds up to 3600, not ${values.wait}`);
  return {
    baseUrl: parseWebUrl(address, 'The base URL').replace(/\/+$/, ''),
    links: values.link.map((link) => parseWebUrl(link, '--link')),
    linksFile: values.links,
    maxWaitMs: seconds * 1_000,
    accessKey: environment.REELAY_ACCESS_KEY?.trim() || undefined,
  };
}

/**
 * The links of a file, one per line. Empty lines and those that begin with `#` are ignored.
 * @throws UsageError that names the file, and the line that is no link
 */
export async function readLinks(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read: ${error.code}`);
  });
  const links = text.split(/\r?\n/).flatMap((line, index) => {
    const link = line.trim();
    return link === '' || link.startsWith('#') ? [] : [parseWebUrl(link, `${file}, line ${index + 1}:`, true)];
  });
  if (links.length === 0) throw new UsageError(`${file} has no links`);
  if (links.length > MAX_LISTED_LINKS) throw new UsageError(`${file} has more than ${MAX_LISTED_LINKS} links`);
  return links;
}

function parseWebUrl(text: string, name: string, isLink = name === '--link'): string {
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isWeb) throw new UsageError(`${name} must begin with https:// or http://, not ${text}`);
  if (!isLink && (url.search || url.hash || url.username))
    throw new UsageError(`${name} has no query, fragment or user name`);
  return isLink ? text : `${url.origin}${url.pathname}`;
}
