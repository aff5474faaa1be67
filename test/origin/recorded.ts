import type { Exchange } from './handler.ts';
import { html, json, redirect, send, sendFile } from './respond.ts';

export type Values = Readonly<Record<string, unknown>>;
type Patterns = Readonly<Record<string, string | null>>;

/**
 * Conditions of a request, as regular expressions, and what it gets. `{{NAME}}` is the value of that name: one of its own, a named
 * group of the conditions, `origin`, `client`, or `soon` and `waited`, times to come in epoch seconds and epoch milliseconds.
 */
export interface Answer {
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
  /** Of the page. */
  readonly head?: string;
  readonly text?: string;
  /** Of the text, or of a file of the test media. */
  readonly type?: string;
  readonly redirect?: string;
  readonly file?: string;
  /** A file of the folder `made`. */
  readonly made?: string;
  /** Values that change instead, before later answers are tried. */
  readonly set?: Values;
}

/** A request gets the first answer whose conditions it meets. */
export interface Recording {
  readonly values?: Values;
  /** Each row is an answer of its own: it replaces fields, and is a set of values. */
  readonly answers: readonly (Answer & { readonly each?: readonly (Answer & Values)[] })[];
}

const LIFETIME_SECONDS = 7_200;
const WAIT_MS = 3_000;

/** @param made folder of the files that answers name so */
export function createRecorded({ values: initial, answers }: Recording, made = '') {
  const values: Record<string, unknown> = { ...initial };
  const rows = answers.flatMap(({ each = [{}], ...answer }) => each.map((row) => ({ ...answer, ...row })));
  return {
    /** Changes values. */
    set: (changes: Values) => void Object.assign(values, changes),
    handle: (exchange: Exchange, body = ''): void | Promise<void> => {
      const { origin } = exchange.url;
      const client = exchange.request.socket.remoteAddress ?? '';
      for (const answer of rows) {
        const times = { soon: Math.floor(Date.now() / 1000) + LIFETIME_SECONDS, waited: Date.now() + WAIT_MS };
        const found = match(answer, exchange, body, { ...values, ...answer, ...times, origin, client });
        if (found && answer.set) Object.assign(values, answer.set);
        else if (found) return respond(answer, answer.made ? { ...exchange, mediaDir: made } : exchange, found);
      }
      send(exchange, 'text/plain', 'Not here', 404);
    },
  };
}

/** @returns the values with the named groups of all patterns; undefined where one does not match */
function match(answer: Answer, { path, url, request }: Exchange, body: string, values: Values): Values | undefined {
  const conditions = [
    [answer.host && `^(?:${answer.host})$`, url.hostname],
    [answer.path && `^(?:${answer.path})$`, path],
    [answer.body, body],
    [answer.client, values.client],
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

function respond(answer: Answer, exchange: Exchange, values: Values): void | Promise<void> {
  const { status, type, file = answer.made, head = '' } = answer;
  for (const [name, value] of Object.entries(answer.send ?? {})) exchange.response.setHeader(name, fill(value, values));
  if (answer.redirect !== undefined) return redirect(exchange, fill(answer.redirect, values), status);
  if (answer.text !== undefined) return send(exchange, type ?? 'text/plain', fill(answer.text, values), status);
  if (file !== undefined) return sendFile(exchange, fill(file, values), type === undefined ? {} : { type });
  if (answer.html === undefined) return json(exchange, JSON.parse(fill(JSON.stringify(answer.json), values)), status);
  return html(exchange, fill(answer.html, values), fill(head, values));
}

/** A value between quotes replaces these, too. Names may contain values. */
export function fill(text: string, values: Values): string {
  const filled = text.replaceAll(/"\{\{([^{}"]+)\}\}"|\{\{([^{}"]+)\}\}/g, (_, whole?: string, part = '') => {
    const value = values[whole ?? part];
    if (value === undefined) throw new Error(`There is no value ${whole ?? part}`);
    return typeof value === 'string' && whole === undefined ? value : JSON.stringify(value);
  });
  return filled === text ? text : fill(filled, values);
}
