export type Shell = 'posix' | 'powershell';

export interface CommandOptions {
  /** The stream's. */
  readonly url: string;
  readonly fileName: string;
  /** Goes on where an earlier run was interrupted. */
  readonly canResume: boolean;
  /** @default posix */
  readonly shell?: Shell;
}

/** A curl that takes the file: safe to paste whatever the name is. */
export function curlCommand({ url, fileName, canResume, shell = 'posix' }: CommandOptions): string {
  const quote = QUOTES[shell];
  // PowerShell 5 has an alias of that name that is another program.
  const program = shell === 'powershell' ? 'curl.exe' : 'curl';
  // `--retry` waits as Retry-After says; without ranges a retry would begin again behind what is there.
  const flags = canResume ? '-fL --retry 5 -C -' : '-fL';
  return `${program} ${flags} -o ${quote(asPath(fileName))} ${quote(plainUrl(url))}`;
}

/** The same by yt-dlp. */
export function ytDlpCommand({ url, fileName, canResume, shell = 'posix' }: CommandOptions): string {
  const quote = QUOTES[shell];
  // The name is a template there: a percent sign stands for itself when it is doubled.
  const template = asPath(fileName).replaceAll('%', '%%');
  return `yt-dlp${canResume ? '' : ' --no-continue'} -o ${quote(template)} ${quote(plainUrl(url))}`;
}

/** The shell that a visitor most likely has. */
export const likelyShell = (userAgent: string): Shell => (/Windows/.test(userAgent) ? 'powershell' : 'posix');

const QUOTES: Readonly<Record<Shell, (argument: string) => string>> = {
  // Nothing is special within single quotes but the quote itself.
  posix: (argument) => `'${argument.replaceAll("'", "'\\''")}'`,
  // PowerShell takes every typographic single quote for one, too.
  powershell: (argument) => `'${argument.replace(/['\u2018-\u201b]/g, '$&$&')}'`,
};

/** A name of this folder that no program takes for an option, and that ends no paste into a terminal early. */
function asPath(fileName: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal obeys them
  const name = fileName.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069"/\\]+/g, ' ');
  const bare = name.trim() || 'media';
  return bare.startsWith('-') ? `./${bare}` : bare;
}

/** In characters that mean nothing but themselves; curl would expand brackets and braces. */
const plainUrl = (url: string): string =>
  new URL(url).href.replace(/["'`\\{}[\]\s]/g, (character) => encodeURIComponent(character).replace("'", '%27'));
