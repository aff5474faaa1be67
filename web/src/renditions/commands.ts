export type Shell = 'posix' | 'powershell';

export interface CommandOptions {
  /** Stream URL. */
  readonly url: string;
  readonly fileName: string;
  /** Resumes an interrupted run. */
  readonly canResume: boolean;
  /** @default posix */
  readonly shell?: Shell;
}

/** A curl command that downloads the file, with every argument quoted. */
export function curlCommand({ url, fileName, canResume, shell = 'posix' }: CommandOptions): string {
  const quote = QUOTES[shell];
  // PowerShell 5 aliases `curl` to Invoke-WebRequest.
  const program = shell === 'powershell' ? 'curl.exe' : 'curl';
  // `--retry` honours Retry-After; without ranges a retry would append the file to itself.
  const flags = canResume ? '-fL --retry 5 -C -' : '-fL';
  return `${program} ${flags} -o ${quote(asPath(fileName))} ${quote(plainUrl(url))}`;
}

/** A yt-dlp command that downloads the file. */
export function ytDlpCommand({ url, fileName, canResume, shell = 'posix' }: CommandOptions): string {
  const quote = QUOTES[shell];
  // `-o` is a template: `%%` is a literal percent sign.
  const template = asPath(fileName).replaceAll('%', '%%');
  return `yt-dlp${canResume ? '' : ' --no-continue'} -o ${quote(template)} ${quote(plainUrl(url))}`;
}

/** The default shell of the visitor's system. */
export const likelyShell = (userAgent: string): Shell => (/Windows/.test(userAgent) ? 'powershell' : 'posix');

const QUOTES: Readonly<Record<Shell, (argument: string) => string>> = {
  // Only the quote itself is special within single quotes.
  posix: (argument) => `'${argument.replaceAll("'", "'\\''")}'`,
  // PowerShell accepts every typographic single quote too.
  powershell: (argument) => `'${argument.replace(/['\u2018-\u201b]/g, '$&$&')}'`,
};

/** A relative path that is neither an option nor ends a paste early. */
function asPath(fileName: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal obeys them
  const name = fileName.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069"/\\]+/g, ' ');
  const bare = name.trim() || 'media';
  return bare.startsWith('-') ? `./${bare}` : bare;
}

/** Percent-encodes shell characters and curl's glob characters. */
const plainUrl = (url: string): string =>
  new URL(url).href.replace(/["'`\\{}[\]\s]/g, (character) => encodeURIComponent(character).replace("'", '%27'));
