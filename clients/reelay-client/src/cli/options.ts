import { parseArgs } from 'node:util';
import type { Selection } from '../index.ts';

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const USAGE = `Usage: reelay URL [options]

Downloads a media link through an instance of Reelay. An interrupted download continues when the same command is run again.
The link of a list with -o FOLDER keeps the folder in step with it: only what is missing is fetched.

  -q, --quality QUALITY  best (default), worst, a maximum height such as 1080p, audio, or mp3
  -o, --output FILE      the name of the file, or an existing folder for it; default: the title. The folder of a list;
                         - is standard output
      --strm             links to the entries of a list, for Jellyfin and Kodi, instead of files
      --delete           remove files of a folder whose entries the list no longer has
      --limit ENTRIES    only so many entries from the beginning of a list
      --every MINUTES    keep running, and look for what is new in the list so often
  -i, --instance ORIGIN  the instance; default: REELAY_INSTANCE, or http://127.0.0.1:8080
      --codec any        the best of all codecs instead of the best that plays everywhere
      --max-bytes BYTES  the best that has at most so many bytes, such as 10000000
      --format FORMAT    mp3 or another one of the service: converts the audio; zip: all entries of a list
      --bitrate KBPS     of MP3: 128, 192 (default), 256 or 320
      --tags             title, artist and cover in the file
      --subtitles LANG   subtitles in the file
      --audio LANG       the language of the audio, original, or all
      --start SECONDS    only the part from there on
      --end SECONDS      only the part up to there
  -f, --force            replace a file that is there
      --url              print the URL of the stream instead
      --quiet            no progress
  -h, --help             this text
      --version          the version

REELAY_ACCESS_KEY is the access key of a private instance.

Exit codes: 0 done, 1 the file cannot be written, 2 wrong command line, 3 refused or not found, 4 failed for now, 130 interrupted
`;

type Command =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | { readonly name: 'download'; readonly options: DownloadCommand };

export interface DownloadCommand {
  readonly link: string;
  readonly instance: string;
  readonly accessKey?: string | undefined;
  readonly selection: Selection;
  readonly output?: string | undefined;
  readonly overwrites: boolean;
  readonly isQuiet: boolean;
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

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
/** Parameters of `/api/Get`, which the instance checks. */
const SELECTION = {
  quality: { ...TEXT, short: 'q' },
  codec: TEXT,
  format: TEXT,
  bitrate: TEXT,
  subtitles: TEXT,
  audio: TEXT,
  start: TEXT,
  end: TEXT,
} as const;
const OPTIONS = {
  ...SELECTION,
  'max-bytes': TEXT,
  tags: FLAG,
  output: { ...TEXT, short: 'o' },
  instance: { ...TEXT, short: 'i' },
  strm: FLAG,
  delete: FLAG,
  limit: TEXT,
  every: TEXT,
  force: { ...FLAG, short: 'f' },
  url: FLAG,
  quiet: FLAG,
  help: { ...FLAG, short: 'h' },
  version: FLAG,
} as const;

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
  const [link, another] = positionals;
  if (link === undefined) throw new UsageError('The URL is missing');
  if (another !== undefined) throw new UsageError(`Expected one URL, also got ${another}`);
  if (!/^https?:\/\/[^/]/i.test(link)) throw new UsageError(`${link} is not an http or https URL`);
  const instance = values.instance ?? (environment.REELAY_INSTANCE || 'http://127.0.0.1:8080');
  if (!/^https?:$/.test(URL.canParse(instance) ? new URL(instance).protocol : ''))
    throw new UsageError(`${instance} is not the URL of an instance`);
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
  const chosen = Object.entries(values).filter(([name]) => name in SELECTION);
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
      isUrlOnly: values.url ?? false,
      isLibrary: values.strm ?? false,
      deletes: values.delete ?? false,
      limit,
      everyMinutes,
    },
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
