import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { madeBy } from '../origin/media.ts';
import { html, json, redirect, send, sendFile } from '../origin/respond.ts';
import type { Site, SiteExchange } from './site.ts';

type Values = Readonly<Record<string, unknown>>;
type Patterns = Readonly<Record<string, string | null>>;

/**
 * Conditions of a request, as regular expressions, and what it gets. `{{NAME}}` is the value of that name; `bytes FILE` is the
 * size of a file that `files` makes, `soon` and `waited` a time to come, in epoch seconds and epoch milliseconds.
 */
interface Answer {
  /** Of the whole name, and of the whole path. */
  readonly host?: string;
  readonly path?: string;
  /** The address of the client. */
  readonly client?: string;
  /** The time in epoch milliseconds from which it is sent. */
  readonly notBefore?: string;
  /** Of parts of a value. Null: it may not be there. */
  readonly query?: Patterns;
  readonly headers?: Patterns;
  readonly body?: string;
  readonly status?: number;
  readonly send?: Readonly<Record<string, string>>;
  /** The body, or `{{json}}` in the text. */
  readonly json?: unknown;
  readonly html?: string;
  readonly text?: string;
  readonly type?: string;
  readonly redirect?: string;
  /** A file of the test media, and one that `files` makes. */
  readonly file?: string;
  readonly made?: string;
  /** Values that change instead, before later answers are tried. */
  readonly set?: Values;
}

/** `answers.json`: a request gets the first answer whose conditions it meets. */
interface Recording {
  readonly hosts: readonly string[];
  /** Arguments of FFmpeg, separated by spaces, of one run each. */
  readonly files?: readonly string[];
  readonly values?: Values;
  /** Each row is an answer of its own: it replaces fields, and is a set of values. */
  readonly answers: readonly (Answer & { readonly each?: readonly (Answer & Values)[] })[];
}

export interface RecordedSite extends Site {
  /** The folder of the files of its own. */
  readonly mediaDir: string;
  /** Changes values. */
  set(changes: Values): void;
}

const LIFETIME_SECONDS = 7_200;
const WAIT_MS = 3_000;

/** A site that answers as `NAME/answers.json` says. */
export async function recordedSite(name: string): Promise<RecordedSite> {
  const read = async (file: string) => JSON.parse(await readFile(join(import.meta.dirname, file), 'utf8'));
  const { hosts, files = [], answers, ...own }: Recording = await read(`${name}/answers.json`);
  const values: Record<string, unknown> = { ...(await read('values.json')), ...own.values };
  const mediaDir = await madeBy(files.map((args) => fill(args, values).split(' ')));
  for (const file of await readdir(mediaDir)) values[`bytes ${file}`] = (await stat(join(mediaDir, file))).size;
  const rows = answers.flatMap(({ each = [{}], ...answer }) => each.map((row) => ({ ...answer, ...row })));
  return {
    hosts,
    mediaDir,
    set: (changes) => void Object.assign(values, changes),
    handle: async (exchange) => {
      for (const answer of rows) {
        const times = { soon: Math.floor(Date.now() / 1000) + LIFETIME_SECONDS, waited: Date.now() + WAIT_MS };
        const found = match(answer, exchange, { ...values, ...answer, ...times, client: exchange.client });
        if (found && answer.set) Object.assign(values, answer.set);
        else if (found)
          return respond(answer, { ...exchange, mediaDir: answer.made ? mediaDir : exchange.mediaDir }, found);
      }
      send(exchange, 'text/plain', 'Not found', 404);
    },
  };
}

/** @returns the values with the named groups of all patterns; undefined where one does not match */
function match(
  answer: Answer,
  { host, path, url, request, body, client }: SiteExchange,
  values: Values,
): Values | undefined {
  const conditions = [
    [answer.host && `^(?:${answer.host})$`, host],
    [answer.path && `^(?:${answer.path})$`, path],
    [answer.body, body],
    [answer.client, client],
    ...Object.entries(answer.query ?? {}).map(([name, pattern]) => [pattern, url.searchParams.get(name)] as const),
    ...Object.entries(answer.headers ?? {}).map(([name, pattern]) => [pattern, request.headers[name]] as const),
  ] as const;
  let found = values;
  for (const [pattern, text] of conditions) {
    if (pattern === undefined || (pattern === null && text == null)) continue;
    const groups = pattern !== null && text != null && new RegExp(fill(pattern, found), 's').exec(String(text));
    if (!groups) return undefined;
    found = { ...found, ...groups.groups };
  }
  return Date.now() < Number(fill(answer.notBefore ?? '0', found)) ? undefined : found;
}

function respond(answer: Answer, exchange: SiteExchange, values: Values): void | Promise<void> {
  const { status, type, file = answer.made } = answer;
  for (const [name, value] of Object.entries(answer.send ?? {})) exchange.response.setHeader(name, fill(value, values));
  if (answer.redirect !== undefined) return redirect(exchange, fill(answer.redirect, values), status);
  if (answer.text !== undefined) return send(exchange, type ?? 'text/plain', fill(answer.text, values), status);
  if (file !== undefined) return sendFile(exchange, fill(file, values));
  if (answer.html === undefined) return json(exchange, JSON.parse(fill(JSON.stringify(answer.json), values)), status);
  return html(exchange, fill(answer.html, values));
}

/** A value between quotes replaces these, too. Names may contain values. */
function fill(text: string, values: Values): string {
  const filled = text.replaceAll(/"\{\{([^{}"]+)\}\}"|\{\{([^{}"]+)\}\}/g, (_, whole?: string, part = '') => {
    const value = values[whole ?? part];
    if (value === undefined) throw new Error(`There is no value ${whole ?? part}`);
    return typeof value === 'string' && whole === undefined ? value : JSON.stringify(value);
  });
  return filled === text ? text : fill(filled, values);
}
