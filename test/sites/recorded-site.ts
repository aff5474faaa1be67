import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { madeBy } from '../origin/media.ts';
import { createRecorded, fill, type Recording, type Values } from '../origin/recorded.ts';
import type { Site } from './site.ts';

/** `answers.json` of a site. `bytes FILE` is the size of a file that `files` makes. */
interface SiteRecording extends Recording {
  readonly hosts: readonly string[];
  /** Arguments of FFmpeg, separated by spaces, of one run each. */
  readonly files?: readonly string[];
}

export interface RecordedSite extends Site {
  /** The folder of the files of its own. */
  readonly mediaDir: string;
  /** Changes values. */
  set(changes: Values): void;
}

/** A site that answers as `NAME/answers.json` says. */
export async function recordedSite(name: string): Promise<RecordedSite> {
  const read = async (file: string) => JSON.parse(await readFile(join(import.meta.dirname, file), 'utf8'));
  const { hosts, files = [], answers, ...own }: SiteRecording = await read(`${name}/answers.json`);
  const values: Record<string, unknown> = { ...(await read('values.json')), ...own.values };
  const mediaDir = await madeBy(files.map((args) => fill(args, values).split(' ')));
  for (const file of await readdir(mediaDir)) values[`bytes ${file}`] = (await stat(join(mediaDir, file))).size;
  const { set, handle } = createRecorded({ values, answers }, mediaDir);
  return { hosts, mediaDir, set, handle: (exchange) => handle(exchange, exchange.body) };
}
