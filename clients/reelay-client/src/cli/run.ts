import { stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { type DownloadProgress, download, pipe, requireWritable } from '../files/index.ts';
import { hasFolderState, type SyncedEntry, type SyncOptions, syncList } from '../folder/index.ts';
import { type Client, createClient, ReelayError, type Waiting } from '../index.ts';
import { type DownloadCommand, parseCommand, USAGE, UsageError } from './options.ts';
import { createProgressBar, formatBytes } from './progress-bar.ts';

/** Where the program reads and writes. */
interface Terminal {
  readonly stdout: { write(data: string | Uint8Array, done?: (error?: Error | null) => void): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Maintenance of an instance, and the start of its stream host, take less. */
const MAX_WAIT_SECONDS = 180;

/** Runs the command line. @returns the exit code */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const say = (text: string) => void terminal.stderr.write(`${text}\n`);
  let progress: DownloadProgress | undefined;
  try {
    const command = parseCommand(args, terminal.environment);
    if (command.name === 'download')
      return await fetchLink(command.options, terminal, (latest) => {
        progress = latest;
      });
    terminal.stdout.write(command.name === 'help' ? USAGE : `${terminal.version}\n`);
    return EXIT_CODES.done;
  } catch (error) {
    if (terminal.signal.aborted) {
      say(interruption(progress));
      return EXIT_CODES.interrupted;
    }
    say(`reelay: ${reasonOf(error as Error)}${hintFor(error)}`);
    if (error instanceof UsageError) return EXIT_CODES.usage;
    return exitCodeOf(error);
  }
}

async function fetchLink(
  options: DownloadCommand,
  { stdout, stderr, signal }: Terminal,
  /** @param progress absent: no file is unfinished */
  onProgress: (progress?: DownloadProgress) => void,
): Promise<number> {
  const { link, instance, accessKey, selection, output, overwrites, isQuiet, isUrlOnly, isLibrary, deletes } = options;
  const { everyMinutes, limit } = options;
  const bar = stderr.isTTY && !isQuiet ? createProgressBar(stderr) : undefined;
  let hasBegun = false;
  const retry = {
    signal,
    maxWaitSeconds: MAX_WAIT_SECONDS,
    onWaiting: ({ failure, seconds }: Waiting) => {
      // Nothing listens there: it is the address that is wrong, or the instance is not started.
      if (!hasBegun && isRefused(failure)) throw failure;
      bar?.clear();
      if (!isQuiet) stderr.write(`${reasonOf(failure)}. Trying again in ${Math.ceil(seconds)} s.\n`);
    },
  };
  const client = createClient({ instance, accessKey });
  const showProgress = (progress: DownloadProgress) => {
    hasBegun = true;
    onProgress(progress);
    bar?.update(progress);
  };
  const sync = async (folder: string): Promise<number> => {
    const syncing = { ...retry, link, folder, selection, isLibrary, deletes, limit, overwrites };
    const clear = () => {
      onProgress();
      bar?.clear();
    };
    const run = () => reportSync(client, { ...syncing, onProgress: showProgress }, { stdout, stderr, isQuiet, clear });
    while (everyMinutes !== undefined) {
      await run().catch((error: unknown) => {
        // Errors of this machine, such as a full disk, do not pass by themselves; others are tried again.
        if (signal.aborted || exitCodeOf(error) === EXIT_CODES.failed) throw error;
        stderr.write(`reelay: ${reasonOf(error as Error)}${hintFor(error)}\n`);
      });
      await setTimeout(everyMinutes * 60_000, undefined, { signal });
    }
    return run();
  };
  const isPiped = output === '-';
  const isFile = isPiped || isUrlOnly || selection.format === 'zip';
  const folder = isFile ? undefined : output;
  const isList = deletes || isLibrary || (limit ?? everyMinutes) !== undefined;
  if (folder !== undefined && (isList || (await isListFolder(folder)))) return sync(folder);
  const url = await client.locate(link, selection, retry).catch(async (error: unknown) => {
    if (isFile || !(error instanceof ReelayError) || error.status !== 415) throw error;
    const { type } = await client.resolve(link, { ...retry, maxEntryWaitSeconds: 0 });
    if (type !== 'PlayList') throw error;
    if (folder === undefined)
      throw new UsageError('The link is a list: -o FOLDER/ downloads its entries, --format zip makes one file of them');
    return undefined;
  });
  if (url === undefined) return sync(folder ?? '.');
  if (isUrlOnly) {
    stdout.write(`${url}\n`);
    return EXIT_CODES.done;
  }
  if (isPiped) {
    const write = (bytes: Uint8Array) =>
      new Promise<void>((resolve, reject) => {
        stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
      });
    const bytes = await pipe(client, url, (chunk) => requireWritable('standard output', write(chunk)), {
      ...retry,
      onProgress: showProgress,
    }).finally(() => bar?.clear());
    if (!isQuiet) stderr.write(`${formatBytes(bytes)}\n`);
    return EXIT_CODES.done;
  }
  const isFolder = output !== undefined && (await stat(output).catch(() => undefined))?.isDirectory();
  const { file, bytes, resumedBytes } = await download(client, url, {
    ...retry,
    ...(isFolder ? { folder: output } : { file: output }),
    overwrites,
    onProgress: showProgress,
  }).finally(() => bar?.clear());
  const earlier = resumedBytes > 0 ? `, ${formatBytes(resumedBytes)} of it received earlier` : '';
  if (!isQuiet) stderr.write(`${formatBytes(bytes)}${resumedBytes === bytes ? ', already there' : earlier}\n`);
  stdout.write(`${file}\n`);
  return EXIT_CODES.done;
}

const isRefused = ({ code, cause }: ReelayError): boolean =>
  code === 'unreachable' && /ECONNREFUSED/.test(String(Object(Object(cause).cause).code));

/** Whether an interrupted download can be continued, and where its bytes are. */
function interruption(progress: DownloadProgress | undefined): string {
  if (!progress) return 'Interrupted.';
  if (progress.file === '-') return 'Interrupted. The output is incomplete.';
  if (progress.canResume) return 'Interrupted. The same command continues it.';
  return `Interrupted. This stream cannot be continued; what was received is in ${progress.file}.part`;
}

/** What a user can do that the message does not say. */
function hintFor(error: unknown): string {
  if (error instanceof UsageError) return '\nreelay --help lists the options';
  if (!(error instanceof ReelayError)) return '';
  if (error.code === 'file-exists') return '; --force replaces it, -o FILE names another';
  if (error.code === 'unauthorized') return '; set REELAY_ACCESS_KEY';
  if (error.code === 'unreachable') return '; npm start starts one, --instance or REELAY_INSTANCE names another';
  return '';
}

interface SyncOutput {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Says nothing but what has failed. */
  readonly isQuiet: boolean;
  /** Removes the progress of an entry that has ended. */
  clear(): void;
}

/** Whether the output is the folder of a list, whatever the link is: by what a run before has left there, or by its name. */
const isListFolder = async (output: string): Promise<boolean> =>
  /[/\\]$/.test(output) || (await hasFolderState(output));

/** Keeps a folder in step with a list, with a line for each entry that is fetched or fails. @returns the exit code */
export async function reportSync(client: Client, options: SyncOptions, output: SyncOutput): Promise<number> {
  const { stdout, stderr, isQuiet, clear } = output;
  const say = (text: string, isNeeded = false) => {
    if (isNeeded || !isQuiet) stderr.write(`${printable(text)}\n`);
  };
  const onEntry = ({ number, count, title, outcome }: SyncedEntry) => {
    if (!outcome) return;
    clear();
    const place = `[${String(number).padStart(String(count).length)}/${count}] ${title}`;
    if ('failure' in outcome) return say(`${place}: ${reasonOf(outcome.failure)}`, true);
    if ('unavailable' in outcome) return say(`${place}: not available, ${reasonOf(outcome.unavailable)}`);
    const { file, bytes, resumedBytes } = outcome.download;
    say(`${place}: ${formatBytes(bytes)}${resumedBytes > 0 ? `, ${formatBytes(resumedBytes)} received earlier` : ''}`);
    stdout.write(`${file}\n`);
  };
  const { entries, deletedFiles, isIncomplete, isRebuilt } = await syncList(client, { ...options, onEntry });
  const failures = entries.flatMap(({ outcome }) => (outcome && 'failure' in outcome ? [outcome.failure] : []));
  const fetched = entries.filter(({ outcome }) => outcome && 'download' in outcome).length;
  if (isRebuilt) say('The state of the folder was damaged; it was rebuilt from the files that are there.', true);
  if (options.deletes && isIncomplete)
    say('Nothing was deleted: the list has entries that are unavailable, or is not read to its end.', true);
  for (const file of deletedFiles) say(`Deleted ${file}`);
  const lost = new Map<string, number[]>();
  for (const { number, outcome } of entries)
    if (outcome && 'unavailable' in outcome) {
      const reason = reasonOf(outcome.unavailable);
      lost.set(reason, [...(lost.get(reason) ?? []), number]);
    }
  const lostCount = [...lost.values()].flat().length;
  const reasons = [...lost].map(([reason, numbers]) => `${numbers.join(', ')}: ${reason}`);
  const there = entries.length - fetched - failures.length - lostCount;
  const unavailable = lostCount > 0 ? `, ${lostCount} not available (${reasons.join('; ')})` : '';
  say(`${fetched} fetched, ${there} there already, ${failures.length} failed${unavailable}`);
  // What may succeed later counts: the same command is worth another attempt.
  return Math.max(EXIT_CODES.done, ...failures.map(exitCodeOf));
}

/** Exit codes of the program. */
export const EXIT_CODES = { done: 0, failed: 1, usage: 2, refused: 3, temporary: 4, interrupted: 130 } as const;

/** Failures of this machine, not of the instance or the source. */
const LOCAL_CODES = ['not-writable', 'file-exists', 'folder-in-use'];

/** The exit code of what ends the program. */
function exitCodeOf(error: unknown): number {
  if (!(error instanceof ReelayError) || LOCAL_CODES.includes(error.code)) return EXIT_CODES.failed;
  return error.isTemporary ? EXIT_CODES.temporary : EXIT_CODES.refused;
}

/** Without control characters: an instance may send any text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach the terminal
const printable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');

/** Explanations of failures for which the instance sends no `detail`. */
const WORDS: Readonly<Record<string, string>> = {
  'bad-url': 'the link is not valid',
  'unknown-host': 'the site of the link was not found: check its spelling',
  'private-address': 'the instance opens public links alone',
  'no-media': 'the page has no video or audio: use the link of the item itself',
  'not-found': 'nothing was found at the link',
  'not-started': 'it has not started yet',
  ended: 'the broadcast has ended, and there is no recording',
  gone: 'the site has removed it',
  refused: 'the site refuses it: it may be private, paid, or for people who are signed in',
  drm: 'it is protected',
  login: 'the site asks for a login',
  age: 'the site asks for proof of age',
  private: 'it is private',
  members: 'it is for members only',
  payment: 'it has to be paid for',
  region: 'the site does not serve the region of the instance',
  unsupported: 'this kind of link is not handled',
  'too-large': 'it is too large',
  'rate-limited': 'the site limits the instance: try again later',
  'site-error': 'the site answered with an error: try again in a moment',
  'site-timeout': 'the site took too long: try again in a moment',
  'site-changed': 'the site has changed, and the instance cannot read it now',
};

/** The reason of a failure, as a part of a sentence. */
export const reasonOf = (error: Error): string => {
  const words = error instanceof ReelayError && !error.detail ? WORDS[error.code] : undefined;
  return words ?? printable(error.message).replace(/\.$/, '');
};
