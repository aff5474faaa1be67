import { parseCommandLine, UsageError } from '../command-line.ts';

/** What to verify. */
export interface VerifyOptions {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** Links that the instance resolves and streams. */
  readonly links: readonly string[];
  /** Waiting for maintenance and Retry-After. */
  readonly maxWaitMs: number;
  readonly isJson: boolean;
  /** Of a private instance. */
  readonly accessKey: string | undefined;
}

export const USAGE = `Use: npm run verify -- https://instance.example [--link https://site.example/video]… [--wait seconds] [--json]

Verifies a running instance by requests that change nothing. With --link, which may be repeated, it also resolves that link
and streams a few ranges of it: at most 32 MB and 150 requests more for each. REELAY_ACCESS_KEY is the access key of a private
instance. Exit status: 0 everything holds, 1 something does not, 2 the command line is wrong, 3 the instance does not answer.`;

const DEFAULT_WAIT_SECONDS = 180;
const MAX_LINKS = 5;

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
      wait: { type: 'string', default: String(DEFAULT_WAIT_SECONDS) },
      json: { type: 'boolean', default: false },
    },
  });
  const [address, ...others] = positionals;
  if (address === undefined) throw new UsageError('Name the base URL of an instance');
  if (others.length > 0) throw new UsageError(`One instance at a time, not also ${others.join(', ')}`);
  if (values.link.length > MAX_LINKS) throw new UsageError(`At most ${MAX_LINKS} links`);
  const seconds = Number(values.wait);
  if (values.wait.trim() === '' || !(seconds >= 0 && seconds <= 3_600))
    throw new UsageError(`--wait is a number of seconds up to 3600, not ${values.wait}`);
  return {
    baseUrl: parseWebUrl(address, 'The base URL').replace(/\/+$/, ''),
    links: values.link.map((link) => parseWebUrl(link, '--link')),
    maxWaitMs: seconds * 1_000,
    isJson: values.json,
    accessKey: environment.REELAY_ACCESS_KEY?.trim() || undefined,
  };
}

function parseWebUrl(text: string, name: string): string {
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isWeb) throw new UsageError(`${name} must begin with https:// or http://, not ${text}`);
  if (name !== '--link' && (url.search || url.hash || url.username))
    throw new UsageError(`${name} has no query, fragment or user name`);
  return name === '--link' ? text : `${url.origin}${url.pathname}`;
}
