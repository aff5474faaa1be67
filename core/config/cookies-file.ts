import { readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { listDir } from './list-dir.ts';
import { defineParser, SettingError } from './parsers.ts';

/** The first line that yt-dlp requires. */
const HEADER = /^#( Netscape)? HTTP Cookie File/;
const FIELDS = 7;

/**
 * The path of a Netscape cookies file, made absolute: yt-dlp runs in another working folder, and ignores a file that
 * does not exist. Error lines contain no part of the cookies.
 */
export const cookiesFile = defineParser('a Netscape cookies file', (name, path): string => {
  const file = resolve(path);
  checkCookies(name, readCookies(name, file));
  return file;
});

const COOKIES_DIR = 'a folder of Netscape cookies files such as youtube.com.txt';

/** The cookies files of a folder, made absolute, by name. Error lines contain no part of the cookies. */
export const cookiesDir = defineParser(COOKIES_DIR, (name, path): string[] => {
  const dir = resolve(path);
  const files = listDir(name, COOKIES_DIR, dir)
    .filter((file) => /^[^.].*\.txt$/i.test(file))
    .sort()
    .map((file) => join(dir, file));
  if (files.length === 0) throw new SettingError(`${name} must be ${COOKIES_DIR}: ${dir} has no .txt file`);
  for (const file of files) checkCookies(`${name}/${basename(file)}`, readCookies(name, file));
  return files;
});

function readCookies(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new SettingError(`${name} must be a file that can be read: ${file} (${code})`, { cause });
  }
}

/**
 * Rejects lines with which yt-dlp fails at start; lines that it skips are accepted.
 * @throws SettingError that names the setting and contains no part of the cookies
 */
export function checkCookies(name: string, bytes: Buffer): void {
  const refuse = (reason: string): never => {
    throw new SettingError(`${name} must be a Netscape cookies file: ${reason}`);
  };
  const text = textOf(bytes) ?? refuse('it is not UTF-8');
  if (!HEADER.test(text)) refuse('its first line is not "# Netscape HTTP Cookie File"');
  const bad = text.split(/\r?\n/).findIndex(isUnreadable);
  if (bad >= 0) refuse(`its line ${bad + 1} cannot be read`);
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // reported by the caller
  }
}

/** JSON, or a domain whose flag for subdomains contradicts its leading dot: yt-dlp fails on both. */
function isUnreadable(line: string): boolean {
  const fields = line.replace(/^#HttpOnly_/, '').split('\t');
  const [domain = '', subdomains] = fields;
  if (domain.startsWith('#')) return false;
  if (fields.length !== FIELDS) return /^\s*[[{"]/.test(line);
  return (subdomains === 'TRUE') !== domain.startsWith('.');
}
