import { parseArgs } from 'node:util';
import type { Selection } from '../index.ts';

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An option of the command line: of what `--help` says, what shells complete, and how it is read. */
export interface Option {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** What the help calls its value. */
  readonly value?: string;
  /** Values that shells suggest. */
  readonly words?: readonly string[];
  /** Its value is a path. */
  readonly isPath?: boolean;
  readonly text: string;
}

export const OPTIONS = {
  quality: {
    type: 'string',
    short: 'q',
    value: 'QUALITY',
    words: ['best', 'worst', '2160p', '1440p', '1080p', '720p', '480p', '360p', 'audio', 'mp3'],
    text: 'best (default), worst, a maximum height such as 1080p, audio, or mp3',
  },
  output: {
    type: 'string',
    short: 'o',
    value: 'FILE',
    isPath: true,
    text: 'the name of the file, or an existing folder for it; default: the title. The folder of a list; - is standard output',
  },
  strm: { type: 'boolean', text: 'links to the entries of a list, for Jellyfin and Kodi, instead of files' },
  delete: { type: 'boolean', text: 'remove files of a folder whose entries the list no longer has' },
  limit: { type: 'string', value: 'ENTRIES', text: 'only so many entries from the beginning of a list' },
  every: { type: 'string', value: 'MINUTES', text: 'keep running, and look for what is new in the list so often' },
  instance: {
    type: 'string',
    short: 'i',
    value: 'ORIGIN',
    text: 'the instance; default: REELAY_INSTANCE, or http://127.0.0.1:8080',
  },
  codec: {
    type: 'string',
    value: 'any',
    words: ['any'],
    text: 'the best of all codecs instead of the best that plays everywhere',
  },
  'max-bytes': { type: 'string', value: 'BYTES', text: 'the best that has at most so many bytes, such as 10000000' },
  format: {
    type: 'string',
    value: 'FORMAT',
    words: ['mp3', 'm4a', 'opus', 'wav', 'zip'],
    text: 'mp3 or another one of the service: converts the audio; zip: all entries of a list',
  },
  bitrate: {
    type: 'string',
    value: 'KBPS',
    words: ['128', '192', '256', '320'],
    text: 'of MP3: 128, 192 (default), 256 or 320',
  },
  tags: { type: 'boolean', text: 'title, artist and cover in the file' },
  subtitles: { type: 'string', value: 'LANG', text: 'subtitles in the file' },
  audio: {
    type: 'string',
    value: 'LANG',
    words: ['original', 'all'],
    text: 'the language of the audio, original, or all',
  },
  start: { type: 'string', value: 'SECONDS', text: 'only the part from there on; of a live stream, such as -300' },
  end: { type: 'string', value: 'SECONDS', text: 'only the part up to there' },
  force: { type: 'boolean', short: 'f', text: 'replace a file that is there' },
  url: { type: 'boolean', text: 'print the URL of the stream instead' },
  json: { type: 'boolean', text: 'print what happens as JSON, one line an event' },
  quiet: { type: 'boolean', text: 'no progress' },
  completion: {
    type: 'string',
    value: 'SHELL',
    words: ['bash', 'zsh', 'fish'],
    text: 'print what completes this command in bash, zsh or fish',
  },
  help: { type: 'boolean', short: 'h', text: 'this text' },
  version: { type: 'boolean', text: 'the version' },
} as const satisfies Readonly<Record<string, Option>>;

type OptionName = keyof typeof OPTIONS;
type Values = {
  readonly [Name in OptionName]?: (typeof OPTIONS)[Name]['type'] extends 'string' ? string : boolean;
};

/** Every option, by its name. */
export const LISTED: readonly (readonly [name: string, option: Option])[] = Object.entries(OPTIONS);

/** Parameters of `/api/Get`, which the instance checks. */
const SELECTION: readonly string[] = ['quality', 'codec', 'format', 'bitrate', 'subtitles', 'audio', 'start', 'end'];

const HELP_COLUMNS = 118;

/** The options in two columns. */
function describeOptions(): string {
  const rows = LISTED.map(([name, { short, value, text }]) => {
    const left = `  ${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`;
    return { left, words: text.split(' ') };
  });
  const indent = Math.max(...rows.map(({ left }) => left.length)) + 2;
  const fit = (line: string, word: string) => line.length + word.length < HELP_COLUMNS - indent;
  return rows
    .map(({ left, words }) => {
      const lines = [''];
      for (const word of words) {
        const line = lines.at(-1) ?? '';
        if (fit(line, word)) lines[lines.length - 1] = `${line} ${word}`.trim();
        else lines.push(word);
      }
      return left.padEnd(indent) + lines.join(`\n${' '.repeat(indent)}`);
    })
    .join('\n');
}

export const USAGE = `Usage: reelay URL [options]

Downloads a media link through an instance of Reelay. An interrupted download continues when the same command is run again.
The link of a list with -o FOLDER keeps the folder in step with it: only what is missing is fetched.

${describeOptions()}

REELAY_ACCESS_KEY is the access key of a private instance.

Exit codes: 0 done, 1 the file cannot be written, 2 wrong command line, 3 refused or not found, 4 failed for now, 130 interrupted
`;

type Command =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | { readonly name: 'completion'; readonly shell: string }
  | { readonly name: 'download'; readonly options: DownloadCommand };

export interface DownloadCommand {
  readonly link: string;
  readonly instance: string;
  readonly accessKey?: string | undefined;
  readonly selection: Selection;
  readonly output?: string | undefined;
  readonly overwrites: boolean;
  readonly isQuiet: boolean;
  /** Print events as JSON instead of the paths of files. */
  readonly isJson: boolean;
  /** Print the URL of the stream instead. */
  readonly isUrlOnly: boolean;
  /** Write links for media centres instead of files. */
  readonly isLibrary: boolean;
  /** Remove files of entries that the list no longer has. */
  readonly deletes: boolean;
  /** Entries at the beginning of a list; without it all. */
  readonly limit?: number | undefined;
  /** Between runs on the folder of a list; without it there is one. */
  readonly everyMinutes?: number | undefined;
}

/** A week; a timer of Node has less than 25 days. */
const MAX_EVERY_MINUTES = 10_080;

/** Reads the command line. @throws UsageError */
export function parseCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Command {
  const { values, positionals } = parse(args);
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  if (values.completion !== undefined) return { name: 'completion', shell: values.completion };
  const [link, another] = positionals;
  if (link === undefined) throw new UsageError('The URL is missing');
  if (another !== undefined) throw new UsageError(`Expected one URL, also got ${another}`);
  if (!/^https?:\/\/[^/]/i.test(link)) throw new UsageError(`${link} is not an http or https URL`);
  const instance = values.instance ?? (environment.REELAY_INSTANCE || 'http://127.0.0.1:8080');
  if (!/^https?:$/.test(URL.canParse(instance) ? new URL(instance).protocol : ''))
    throw new UsageError(`${instance} is not the URL of an instance`);
  if (values.json && values.output === '-')
    throw new UsageError('--json needs standard output for itself: name a file with --output');
  const isFolder = values.output !== undefined && values.output !== '-' && !values.url && values.format !== 'zip';
  for (const name of ['delete', 'strm', 'limit', 'every'] as const)
    if (values[name] && !isFolder)
      throw new UsageError(`--${name} needs --output FOLDER, without --url and an archive`);
  const everyMinutes = values.every === undefined ? undefined : Number(values.every);
  if (everyMinutes !== undefined && !(everyMinutes > 0 && everyMinutes <= MAX_EVERY_MINUTES))
    throw new UsageError(`--every ${values.every} is not a number of minutes up to ${MAX_EVERY_MINUTES}`);
  const limit = values.limit === undefined ? undefined : Number(values.limit);
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw new UsageError(`--limit ${values.limit} is not a number of entries`);
  const chosen = Object.entries(values).filter(([name]) => SELECTION.includes(name));
  return {
    name: 'download',
    options: {
      link,
      instance,
      accessKey: environment.REELAY_ACCESS_KEY || undefined,
      output: values.output,
      // The instance refuses values that it does not know, and says which there are.
      selection: {
        ...Object.fromEntries(chosen),
        ...(values['max-bytes'] && { maxBytes: values['max-bytes'] }),
        ...(values.tags && { tags: 'true' }),
      } as Selection,
      overwrites: values.force ?? false,
      isQuiet: values.quiet ?? false,
      isJson: values.json ?? false,
      isUrlOnly: values.url ?? false,
      isLibrary: values.strm ?? false,
      deletes: values.delete ?? false,
      limit,
      everyMinutes,
    },
  };
}

/** @throws UsageError in words of this program: those of Node advise what does not help here */
function parse(args: readonly string[]): { readonly values: Values; readonly positionals: readonly string[] } {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const option = LISTED.find(([known]) => known === name)?.[1];
    if (!option) throw new UsageError(`There is no option ${rawName}${nearestOption(name)}`);
    if (option.type === 'boolean' && value !== undefined) throw new UsageError(`${rawName} takes no value`);
    // A number may be negative; what else begins so is an option whose place a value was meant to be in.
    const isValue = value !== undefined && (inlineValue || !/^-[^\d]/.test(value));
    if (option.type === 'string' && !isValue) throw new UsageError(`${rawName} needs a value: ${option.value}`);
  }
  return { values: values as Values, positionals };
}

/** The option that was probably meant: it begins so, or is a typing error or two away. Empty where none is. */
function nearestOption(given: string): string {
  if (given.length < 2) return '';
  const names = LISTED.map(([name]) => name);
  const nearest =
    names.find((name) => name.startsWith(given)) ??
    names.find((name) => isWithin(1, given, name)) ??
    names.find((name) => isWithin(2, given, name));
  return nearest ? `; the nearest one is --${nearest}` : '';
}

/** Whether so many insertions, deletions and substitutions of letters make one text of another. */
function isWithin(edits: number, one: string, other: string): boolean {
  if (one === other || edits === 0) return one === other;
  const at = [...one].findIndex((letter, index) => letter !== other[index]);
  const [rest, otherRest] = at < 0 ? ['', other.slice(one.length)] : [one.slice(at), other.slice(at)];
  const ways = [
    [rest.slice(1), otherRest],
    [rest, otherRest.slice(1)],
    [rest.slice(1), otherRest.slice(1)],
  ] as const;
  return ways.some(([left, right]) => isWithin(edits - 1, left, right));
}
