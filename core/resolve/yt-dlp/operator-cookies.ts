import { randomUUID } from 'node:crypto';
import { chmod, chown, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { OperatorCookie, OperatorOptions } from '@reelay/yt-dlp-worker';
import { siteOf } from '../../egress/index.ts';
import { describeError, type Log } from '../../log/index.ts';
import type { Info } from '../../parsing/index.ts';

/** The cookies files of the operator, into which cookies are written that a site has replaced. */
interface OperatorCookies {
  /** Cookies that this process has written, as the files have them now: a worker reads the files at its start alone. */
  replaced(): Promise<readonly OperatorCookie[]>;
  /**
   * Writes cookies that the site of a link has replaced, as the worker reports them. Cookies of other sites, those that no
   * file has, and those that the operator has changed meanwhile stay as they are. Never rejects.
   */
  write(link: string, reported: readonly Info[]): Promise<void>;
}

interface Replacement extends OperatorCookie {
  /** The value that the site was sent. */
  readonly before: string;
}

const MAX_COOKIES = 50;
/** Browsers keep no more characters of a name and its value. */
const MAX_CHARS = 4_096;
const MAX_DOMAIN_AND_PATH_CHARS = 1_024;
/** A later expiry alone is written at most once a day. */
const MIN_EXTENSION_SECONDS = 86_400;
const HTTP_ONLY = /^#HttpOnly_/;
const ROW_FIELDS = 7;
const OWNER_MAY_WRITE = 0o200;
/** Hosts of short links, and the sites that they lead to. */
const SITES_OF_SHORT_LINKS: Readonly<Record<string, string>> = { 'youtu.be': 'youtube.com' };

export function createOperatorCookies(
  { cookiesFile, cookiesDir = [] }: Pick<OperatorOptions, 'cookiesFile' | 'cookiesDir'>,
  log: Log,
): OperatorCookies {
  /** The last file that has a cookie applies. */
  const files = [...(cookiesFile === undefined ? [] : [cookiesFile]), ...cookiesDir];
  /** Values by cookie. */
  const written = new Map<string, string>();
  const failed = new Set<string>();
  let lastWrite = Promise.resolve();

  const report = (file: string, error: unknown) => {
    if (!failed.has(file)) log.warn('Cookies cannot be written back', { file, error: describeError(error) });
    failed.add(file);
  };

  /** Writes the replacements that belong into a file, and removes them and the refused ones from the map. */
  const writeInto = async (file: string, pending: Map<string, Replacement>): Promise<void> => {
    const lines = (await readFile(file, 'utf8')).split('\n');
    const accepted: Replacement[] = [];
    // The last of equal cookies applies.
    for (const [index, line] of [...lines.entries()].reverse()) {
      const row = readRow(line);
      const replacement = row && pending.get(keyOf(row));
      if (!replacement) continue;
      pending.delete(keyOf(row));
      if (!isAccepted(row, replacement, written.get(keyOf(row)))) continue;
      accepted.push(replacement);
      lines[index] = replaceInRow(line, replacement);
    }
    if (accepted.length === 0) return;
    await replaceFile(file, lines.join('\n'));
    for (const cookie of accepted) written.set(keyOf(cookie), cookie.value);
  };

  const writeAll = async (replacements: readonly Replacement[]): Promise<void> => {
    const pending = new Map(replacements.map((each) => [keyOf(each), each]));
    for (const file of files.toReversed())
      if (pending.size > 0) await writeInto(file, pending).catch((error) => report(file, error));
  };

  return {
    async replaced() {
      if (written.size === 0) return [];
      const found = new Map<string, OperatorCookie>();
      for (const file of files) {
        const text = await readFile(file, 'utf8').catch((error) => report(file, error));
        for (const row of (text ?? '').split('\n').map(readRow))
          if (row && written.has(keyOf(row))) found.set(keyOf(row), row);
      }
      return [...found.values()];
    },
    write(link, reported) {
      const site = SITES_OF_SHORT_LINKS[siteOf(link)] ?? siteOf(link);
      const replacements = reported
        .slice(0, MAX_COOKIES)
        .map(readReplacement)
        .filter((each) => each !== undefined)
        .filter(({ domain }) => siteOf(`http://${domain.replace(/^\./, '')}/`) === site);
      if (replacements.length > 0) lastWrite = lastWrite.then(() => writeAll(replacements));
      return lastWrite;
    },
  };
}

const keyOf = ({ domain, path, name }: OperatorCookie): string => [domain, path, name].join('\t');

/** A line of a Netscape cookies file; undefined when it is no cookie. */
function readRow(line: string): OperatorCookie | undefined {
  const fields = line.replace(HTTP_ONLY, '').replace(/\r$/, '').split('\t');
  const [domain = '', , path = '', , expires = '', name = '', value = ''] = fields;
  if (fields.length !== ROW_FIELDS || domain.startsWith('#')) return undefined;
  return { domain, path, name, value, expires: Math.trunc(Number(expires)) || 0 };
}

function replaceInRow(line: string, { expires, value }: OperatorCookie): string {
  const fields = line.split('\t');
  return [...fields.slice(0, 4), expires, fields[5], line.endsWith('\r') ? `${value}\r` : value].join('\t');
}

/** A replacement, as the worker reports it; undefined for what no site can have set. */
function readReplacement({ domain, path, name, before, value, expires }: Info): Replacement | undefined {
  const texts = [domain, path, name, before, value];
  // A control character could begin another row.
  if (!texts.every((text) => typeof text === 'string' && !/\p{Cc}/u.test(text))) return undefined;
  const cookie = { domain, path, name, before, value, expires } as Replacement;
  if (!Number.isSafeInteger(expires) || cookie.expires < 0 || cookie.value === '') return undefined;
  const isTooLong =
    cookie.name.length + cookie.value.length > MAX_CHARS ||
    cookie.domain.length + cookie.path.length > MAX_DOMAIN_AND_PATH_CHARS;
  return isTooLong ? undefined : cookie;
}

/** @param written the value that this process has written last */
function isAccepted(
  row: OperatorCookie,
  { before, value, expires }: Replacement,
  written: string | undefined,
): boolean {
  const endsBefore = (seconds: number) => expires !== 0 && expires < row.expires + seconds;
  if (row.value === value) return row.expires !== 0 && !endsBefore(MIN_EXTENSION_SECONDS);
  if (row.value === before) return true;
  // Another link has replaced it meanwhile: the one that is valid longer stays.
  return row.value === written && !endsBefore(0);
}

/** Replaces a file as a whole, so that none is read half written. Its mode and owner stay. */
async function replaceFile(file: string, text: string): Promise<void> {
  const target = await realpath(file);
  const { mode, uid, gid } = await stat(target);
  if ((mode & OWNER_MAY_WRITE) === 0) throw new Error('The file is read-only');
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
    if (uid !== process.geteuid?.()) await chown(temporary, uid, gid).catch(() => undefined);
    await chmod(temporary, mode & 0o777);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
