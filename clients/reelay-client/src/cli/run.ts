import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type DownloadProgress, download, pipe, requireWritable, safeFileName } from '../files/index.ts';
import { hasFolderState, type SyncedEntry, type SyncOptions, syncList } from '../folder/index.ts';
import { type Client, createClient, type MediaInformation, ReelayError, type Waiting } from '../index.ts';
import { completionFor } from './completion.ts';
import {
  createProgressEvents,
  entryEvent,
  failureEvent,
  fileEvent,
  type ProgramEvent,
  renditionAt,
  resolvedEvent,
} from './events.ts';
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
  let progress: DownloadProgress | undefined;
  let options: DownloadCommand | undefined;
  try {
    const command = parseCommand(args, terminal.environment);
    if (command.name === 'download') {
      options = command.options;
      return await fetchLink(options, terminal, (latest) => {
        progress = latest;
      });
    }
    if (command.name === 'completion') terminal.stdout.write(completionFor(command.shell));
    else terminal.stdout.write(command.name === 'help' ? USAGE : `${terminal.version}\n`);
    return EXIT_CODES.done;
  } catch (error) {
    if (terminal.signal.aborted) {
      terminal.stderr.write(`${interruption(progress)}\n`);
      return EXIT_CODES.interrupted;
    }
    reportFailure(error as Error, terminal, options);
    if (error instanceof UsageError) return EXIT_CODES.usage;
    return exitCodeOf(error);
  }
}

/** Says what has failed, and of which link. @param options absent: the command line is wrong */
function reportFailure(error: Error, terminal: Terminal, options?: DownloadCommand, retryInSeconds?: number): void {
  const message = reasonOf(error);
  terminal.stderr.write(`reelay: ${options ? about(options.link) : ''}${message}${hintFor(error)}\n`);
  if (options) emitTo(terminal, options)(failureEvent(error, { link: options.link, message, retryInSeconds }));
}

/** The link, as a line begins with it; without a password. */
const about = (link: string): string => `${printable(link.replace(/(?<=^https?:\/\/)[^/?#]*@/i, ''))}: `;

/** Prints events, where they are wanted. */
const emitTo =
  ({ stdout }: Terminal, { isJson }: DownloadCommand) =>
  (event: ProgramEvent | undefined): void => {
    if (isJson && event) stdout.write(`${JSON.stringify(event)}\n`);
  };

async function fetchLink(
  options: DownloadCommand,
  terminal: Terminal,
  /** @param progress absent: no file is unfinished */
  onProgress: (progress?: DownloadProgress) => void,
): Promise<number> {
  const { stdout, stderr, signal } = terminal;
  const { link, instance, accessKey, selection, output, overwrites, isQuiet, isUrlOnly, isLibrary, deletes } = options;
  const { everyMinutes, limit, isJson } = options;
  const bar = stderr.isTTY && !isQuiet && !isJson ? createProgressBar(stderr) : undefined;
  const emit = emitTo(terminal, options);
  const emitProgress = createProgressEvents(link, emit);
  let hasBegun = false;
  const retry = {
    signal,
    maxWaitSeconds: MAX_WAIT_SECONDS,
    onWaiting: ({ failure, seconds }: Waiting) => {
      // Nothing listens there: it is the address that is wrong, or the instance is not started.
      if (!hasBegun && isRefused(failure)) throw failure;
      bar?.clear();
      const [message, retryInSeconds] = [reasonOf(failure), Math.ceil(seconds)];
      if (!isQuiet) stderr.write(`reelay: ${about(link)}${message}. Trying again in ${retryInSeconds} s\n`);
      emit(failureEvent(failure, { link, message, retryInSeconds }));
    },
  };
  const client = createClient({ instance, accessKey });
  /** Entries of a list are resolved when they are fetched. */
  const resolve = () => client.resolve(link, { ...retry, maxEntryWaitSeconds: 1 });
  const showProgress = (progress: DownloadProgress) => {
    hasBegun = true;
    onProgress(progress);
    bar?.update(progress);
    emitProgress(progress);
  };
  const sync = async (folder: string): Promise<number> => {
    const onEntry = (entry: SyncedEntry) => emit(entryEvent(link, entry, reasonOf));
    const progress = { onProgress: showProgress, onEntry };
    const syncing = { ...retry, ...progress, link, folder, selection, isLibrary, deletes, limit, overwrites };
    const clear = () => {
      onProgress();
      bar?.clear();
    };
    const paths = isJson ? { write: () => undefined } : stdout;
    const run = async () => {
      if (isJson) emit(resolvedEvent(link, await resolve()));
      return reportSync(client, syncing, { stdout: paths, stderr, isQuiet, clear });
    };
    while (everyMinutes !== undefined) {
      await run().catch((error: unknown) => {
        // Errors of this machine, such as a full disk, do not pass by themselves; others are tried again.
        if (signal.aborted || exitCodeOf(error) === EXIT_CODES.failed) throw error;
        reportFailure(error as Error, terminal, options, everyMinutes * 60);
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
    if ((await resolve()).type !== 'PlayList') throw error;
    if (folder === undefined)
      throw new UsageError('The link is a list: -o FOLDER/ downloads its entries, --format zip makes one file of them');
    return undefined;
  });
  if (url === undefined) return sync(folder ?? '.');
  const isHeight = /^\d+p$/i.test(selection.quality ?? '');
  const isNamed = isHeight || selection.quality === 'best' || selection.quality === 'worst';
  const resolved = isJson || (isNamed && selection.format === undefined) ? await resolve() : undefined;
  if (resolved) emit(resolvedEvent(link, resolved, url));
  const rendition = resolved && renditionAt(url, resolved.mediaItems);
  const taller = isHeight && rendition && describeTaller(selection, rendition.label, resolved.mediaItems);
  if (taller) stderr.write(`reelay: ${about(link)}${taller}\n`);
  if (isUrlOnly) {
    if (!isJson) stdout.write(`${url}\n`);
    return EXIT_CODES.done;
  }
  if (isPiped) {
    const write = (bytes: Uint8Array) =>
      new Promise<void>((settle, reject) => {
        stdout.write(bytes, (error) => (error ? reject(error) : settle()));
      });
    const bytes = await pipe(client, url, (chunk) => requireWritable('standard output', write(chunk)), {
      ...retry,
      onProgress: showProgress,
    }).finally(() => bar?.clear());
    if (!isQuiet) stderr.write(`${formatBytes(bytes)}\n`);
    return EXIT_CODES.done;
  }
  const isFolder = output !== undefined && (await stat(output).catch(() => undefined))?.isDirectory();
  const lines = isNamed ? /^\d+p\d*(?: HDR)?/.exec(rendition?.label ?? '')?.[0] : undefined;
  const suffix = lines ?? (selection.bitrate && `${selection.bitrate} kbps`);
  const received = await download(client, url, {
    ...retry,
    ...(isFolder ? {} : { file: output }),
    chooseFile: async ({ name }) => join(isFolder ? output : '', suffix ? withSuffix(name, suffix) : name),
    overwrites,
    onProgress: showProgress,
  }).finally(() => bar?.clear());
  const { file, bytes, resumedBytes } = received;
  emit(fileEvent(link, received));
  const earlier = resumedBytes > 0 ? `, ${formatBytes(resumedBytes)} of it received earlier` : '';
  if (!isQuiet) stderr.write(`${formatBytes(bytes)}${resumedBytes === bytes ? ', already there' : earlier}\n`);
  if (!isJson) stdout.write(`${file}\n`);
  return EXIT_CODES.done;
}

/** Files of other qualities have other names, as those of the page: `Title (720p).mp4`. */
const withSuffix = (name: string, suffix: string): string =>
  safeFileName(name.replace(/(?=(?:\.[^.\s]{1,10})?$)/, ` (${suffix})`));

/** The number of lines in a label such as `720p60`. */
const linesOf = (label: string): number => Number(/^(\d+)p/.exec(label)?.[1] ?? Number.NaN);

/** Says that a height was asked for which nothing that may be selected keeps to; undefined where it was kept to. */
export function describeTaller(
  { quality, codec }: { readonly quality?: string | undefined; readonly codec?: string | undefined },
  label: string,
  items: readonly MediaInformation[],
): string | undefined {
  const wanted = Number.parseInt(quality ?? '', 10);
  if (!(linesOf(label) > wanted)) return undefined;
  const isLow = items.some(({ video }) => video?.renditions.some((other) => linesOf(other.label) <= wanted));
  const [lack, hint] = codec ? ['', ''] : [' that plays everywhere', '; --codec any takes others'];
  return isLow
    ? `Nothing as low as ${quality}${lack} without a flaw: took ${label}${hint}`
    : `Nothing as low as ${quality}: took ${label}`;
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
    if ('unavailable' in outcome) return say(`${place}: not available. ${reasonOf(outcome.unavailable)}`);
    const { file, bytes, resumedBytes } = outcome.download;
    say(`${place}: ${formatBytes(bytes)}${resumedBytes > 0 ? `, ${formatBytes(resumedBytes)} received earlier` : ''}`);
    stdout.write(`${file}\n`);
  };
  const { entries, deletedFiles, isIncomplete, isRebuilt } = await syncList(client, {
    ...options,
    onEntry: (entry) => {
      options.onEntry?.(entry);
      onEntry(entry);
    },
  });
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
  'bad-url': 'The link is not valid',
  'unknown-host': 'The site of the link was not found: check its spelling',
  'private-address': 'The instance opens public links alone',
  'no-media': 'The page has no video or audio: use the link of the item itself',
  'not-found': 'Nothing was found at the link',
  'not-started': 'It has not started yet',
  ended: 'The broadcast has ended, and there is no recording',
  gone: 'The site no longer has it',
  refused: 'The site refuses it: it may be private, paid, or for people who are signed in',
  drm: 'It is protected',
  login: 'The site asks for a login',
  age: 'The site asks for proof of age',
  private: 'It is private',
  members: 'It is for members only',
  payment: 'It has to be paid for',
  region: 'The site does not serve the region of the instance',
  unsupported: 'This kind of link is not handled',
  'too-large': 'It is too large',
  'rate-limited': 'The site limits the instance: try again later',
  'site-error': 'The site answered with an error: try again in a moment',
  'site-timeout': 'The site took too long: try again in a moment',
  'site-changed': 'The site has changed, and the instance cannot read it now',
};

/** The reason of a failure: a sentence without its full stop. */
export const reasonOf = (error: Error): string => {
  const words = error instanceof ReelayError && !error.detail ? WORDS[error.code] : undefined;
  return words ?? printable(error.message).replace(/\.$/, '');
};
