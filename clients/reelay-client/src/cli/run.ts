import { stat } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { type DownloadProgress, download, pipe, requireWritable } from '../files/index.ts';
import { createClient, ReelayError, type Waiting } from '../index.ts';
import { type DownloadCommand, parseCommand, USAGE, UsageError } from './options.ts';
import { EXIT_CODES, exitCodeOf, reasonOf } from './outcome.ts';
import { createProgressBar, formatBytes } from './progress-bar.ts';
import { isListFolder, reportSync } from './run-sync.ts';

/** Where the program reads and writes. */
interface Terminal {
  readonly stdout: { write(data: string | Uint8Array, done?: (error?: Error | null) => void): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Maintenance, and starts of hosts on demand, take less. */
const MAX_WAIT_SECONDS = 180;

/** Runs the command line. @returns the exit code */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const say = (text: string) => void terminal.stderr.write(`${text}\n`);
  let progress: DownloadProgress | undefined;
  try {
    const command = parseCommand(args, terminal.environment);
    if (command.name === 'help') terminal.stdout.write(USAGE);
    else if (command.name === 'version') terminal.stdout.write(`${terminal.version}\n`);
    else {
      const onProgress = (latest?: DownloadProgress) => {
        progress = latest;
      };
      return await fetchLink(command.options, terminal, onProgress);
    }
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
  const { everyMinutes } = options;
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
    const syncing = { ...retry, link, folder, selection, isLibrary, deletes, overwrites, onProgress: showProgress };
    const clear = () => {
      onProgress();
      bar?.clear();
    };
    const run = () => reportSync(client, syncing, { stdout, stderr, isQuiet, clear });
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
  if (folder !== undefined && (deletes || isLibrary || everyMinutes !== undefined || (await isListFolder(folder))))
    return sync(folder);
  const url = await client.locate(link, selection, retry).catch(async (error: unknown) => {
    if (isFile || !(error instanceof ReelayError) || error.status !== 415) throw error;
    const { type } = await client.resolve(link, { ...retry, maxEntryWaitSeconds: 1 });
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

/** What is left behind. */
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
