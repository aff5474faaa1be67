import { stat } from 'node:fs/promises';
import { type DownloadProgress, download } from '../files/index.ts';
import { createClient, ReelayError, type Waiting } from '../index.ts';
import { type DownloadCommand, parseCommand, USAGE, UsageError } from './options.ts';
import { createProgressBar, formatBytes } from './progress-bar.ts';

/** What the program says to its shell. */
export const EXIT_CODES = { done: 0, failed: 1, usage: 2, refused: 3, temporary: 4, interrupted: 130 } as const;

/** Where the program reads and writes. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown };
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
      const onProgress = (latest: DownloadProgress) => {
        progress = latest;
      };
      await fetchLink(command.options, terminal, onProgress);
    }
    return EXIT_CODES.done;
  } catch (error) {
    if (terminal.signal.aborted) {
      say(interruption(progress));
      return EXIT_CODES.interrupted;
    }
    say(`reelay: ${printable((error as Error).message)}${hintFor(error)}`);
    if (error instanceof UsageError) return EXIT_CODES.usage;
    if (!(error instanceof ReelayError) || error.code === 'not-writable' || error.code === 'file-exists')
      return EXIT_CODES.failed;
    return error.isTemporary ? EXIT_CODES.temporary : EXIT_CODES.refused;
  }
}

async function fetchLink(
  options: DownloadCommand,
  { stdout, stderr, signal }: Terminal,
  onProgress: (progress: DownloadProgress) => void,
): Promise<void> {
  const { link, instance, accessKey, selection, output, overwrites, isQuiet, isUrlOnly } = options;
  const bar = stderr.isTTY && !isQuiet ? createProgressBar(stderr) : undefined;
  const retry = {
    signal,
    maxWaitSeconds: MAX_WAIT_SECONDS,
    onWaiting: ({ failure, seconds }: Waiting) => {
      bar?.clear();
      if (!isQuiet) stderr.write(`${printable(failure.message)}. Trying again in ${Math.ceil(seconds)} s.\n`);
    },
  };
  const client = createClient({ instance, accessKey });
  const url = await client.locate(link, selection, retry);
  if (isUrlOnly) return void stdout.write(`${url}\n`);
  const isFolder = output !== undefined && (await stat(output).catch(() => undefined))?.isDirectory();
  const { file, bytes, resumedBytes } = await download(client, url, {
    ...retry,
    ...(isFolder ? { folder: output } : { file: output }),
    overwrites,
    onProgress: (progress) => {
      onProgress(progress);
      bar?.update(progress);
    },
  }).finally(() => bar?.clear());
  const earlier = resumedBytes > 0 ? `, ${formatBytes(resumedBytes)} of it received earlier` : '';
  if (!isQuiet) stderr.write(`${formatBytes(bytes)}${earlier}\n`);
  stdout.write(`${file}\n`);
}

/** What is left behind. */
function interruption(progress: DownloadProgress | undefined): string {
  if (!progress) return 'Interrupted.';
  if (progress.canResume) return 'Interrupted. The same command continues it.';
  return `Interrupted. This stream cannot be continued; what was received is in ${progress.file}.part`;
}

/** What a user can do that the message does not say. */
function hintFor(error: unknown): string {
  if (error instanceof UsageError) return '\nreelay --help lists the options';
  if (!(error instanceof ReelayError)) return '';
  if (error.code === 'file-exists') return '; --force replaces it';
  if (error.code === 'unauthorized') return '; set REELAY_ACCESS_KEY';
  if (error.code === 'unreachable') return '; --instance or REELAY_INSTANCE names another';
  return '';
}

/** Without control characters: an instance may send any text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach the terminal
const printable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
