import { hasFolderState, type SyncedEntry, type SyncOptions, syncList } from '../folder/index.ts';
import type { Client } from '../index.ts';
import { EXIT_CODES, exitCodeOf, printable, reasonOf } from './outcome.ts';
import { formatBytes } from './progress-bar.ts';

interface SyncOutput {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Says nothing but what has failed. */
  readonly isQuiet: boolean;
  /** Removes the progress of an entry that has ended. */
  clear(): void;
}

/** Whether the output is the folder of a list, whatever the link is: by what a run before has left there, or by its name. */
export const isListFolder = async (output: string): Promise<boolean> =>
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
    const { file, bytes, resumedBytes } = outcome.download;
    say(`${place}: ${formatBytes(bytes)}${resumedBytes > 0 ? `, ${formatBytes(resumedBytes)} received earlier` : ''}`);
    stdout.write(`${file}\n`);
  };
  const { entries, deletedFiles, isIncomplete, isRebuilt } = await syncList(client, { ...options, onEntry });
  const failures = entries.flatMap(({ outcome }) => (outcome && 'failure' in outcome ? [outcome.failure] : []));
  const fetched = entries.filter(({ outcome }) => outcome && 'download' in outcome).length;
  if (isRebuilt) say('The state of the folder was damaged; it was rebuilt from the files that are there.', true);
  if (options.deletes && isIncomplete)
    say('Nothing was deleted: the list has entries that are unavailable, or more than the instance reads.', true);
  for (const file of deletedFiles) say(`Deleted ${file}`);
  const there = entries.length - fetched - failures.length;
  say(`${fetched} fetched, ${there} there already, ${failures.length} failed`);
  // What may succeed later counts: the same command is worth another attempt.
  return Math.max(EXIT_CODES.done, ...failures.map(exitCodeOf));
}
