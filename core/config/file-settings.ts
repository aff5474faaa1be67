import { createHash, X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { defineParser, readPath, SettingError } from './parsers.ts';

/** The first line that yt-dlp requires. */
const HEADER = /^#( Netscape)? HTTP Cookie File/;
const FIELDS = 7;
const COOKIES_FILE = 'a Netscape cookies file';

/**
 * The path of a Netscape cookies file, made absolute: yt-dlp runs in another working folder, and ignores a file that
 * does not exist. Error lines contain no part of the cookies.
 */
export const cookiesFile = defineParser(COOKIES_FILE, (name, path): string => checkFile(name, resolve(path)));

const COOKIES_DIR = 'a folder of Netscape cookies files such as youtube.com.txt';

/** The cookies files of a folder, made absolute, by name. Error lines contain no part of the cookies. */
export const cookiesDir = defineParser(COOKIES_DIR, (name, path): string[] => {
  const dir = resolve(path);
  const files = readPath(name, { accepts: COOKIES_DIR, path: dir, read: (folder) => readdirSync(folder) })
    .filter((file) => /^[^.].*\.txt$/i.test(file))
    .sort()
    .map((file) => join(dir, file));
  if (files.length === 0) throw new SettingError(`${name} must be ${COOKIES_DIR}: ${dir} has no .txt file`);
  for (const file of files) checkFile(`${name}/${basename(file)}`, file);
  return files;
});

function checkFile(name: string, file: string): string {
  checkCookies(name, readPath(name, { accepts: COOKIES_FILE, path: file, read: (path) => readFileSync(path) }));
  return file;
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

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

const PEM_FILE = 'a PEM file of certificates';

/** The path of a PEM file of certificates, made absolute: yt-dlp runs in another working folder. */
export const extraCaFile = defineParser(PEM_FILE, (name, path): string => {
  const file = resolve(path);
  const certificates = readPath(name, { accepts: PEM_FILE, path: file, read: readCertificates });
  if (certificates.length === 0) throw new SettingError(`${name} must be ${PEM_FILE}: ${file} has none`);
  return file;
});

/** The certificates of a PEM file. @throws Error with a `code` when the file or one of them cannot be read */
const readCertificates = (file: string): X509Certificate[] =>
  (readFileSync(file, 'utf8').match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text));

const PLUGINS = 'a folder of yt-dlp plugins: folders with yt_dlp_plugins, or archives (.zip, .whl)';

/** The folder of plugins, made absolute: yt-dlp runs in another working folder, and ignores a folder without plugins. */
export const ytDlpPlugins = defineParser(PLUGINS, (name, path): string => {
  const dir = resolve(path);
  const isPlugin = (entry: string) => /\.(zip|egg|whl)$/i.test(entry) || existsSync(join(dir, entry, 'yt_dlp_plugins'));
  const entries = readPath(name, { accepts: PLUGINS, path: dir, read: (folder) => readdirSync(folder) });
  if (!entries.some(isPlugin)) throw new SettingError(`${name} must be ${PLUGINS}: ${dir} has none`);
  return dir;
});

/** A key of a private instance, of which only the hash is kept. */
export interface AccessKey {
  /** The first characters of the hash: names the key in links and identifies its clients. */
  readonly id: string;
  /** SHA-256 of the key, 64 hexadecimal digits. */
  readonly hash: string;
}

const MIN_LENGTH = 16;
const MAX_LENGTH = 256;
/** What an Authorization header can carry: token68 of RFC 9110 §11.2. */
const TOKEN = /^[\w.~+/-]+=*$/;
const ID_CHARACTERS = 12;

/** @param key as the operator has set it, or as a client sends it */
export function hashAccessKey(key: string): AccessKey {
  const hash = createHash('sha256').update(key).digest('hex');
  return { id: hash.slice(0, ID_CHARACTERS), hash };
}

/** Keys separated by commas. Error lines name an entry by its number alone. */
export const accessKeys = defineParser(
  `a comma list of keys of ${MIN_LENGTH} to ${MAX_LENGTH} letters, digits and -._~+/=`,
  (name, text): AccessKey[] => parseKeys(name, text.split(',')),
);

const KEYS_FILE = 'a file with one key per line';

/** Path of a file with one key per line; blank lines and lines that start with # are skipped. */
export const accessKeysFile = defineParser(KEYS_FILE, (name, path): AccessKey[] => {
  const text = readPath(name, { accepts: KEYS_FILE, path: resolve(path), read: (file) => readFileSync(file, 'utf8') });
  const lines = text.split(/\r?\n/);
  const keys = parseKeys(
    name,
    lines.filter((line) => line.trim() !== '' && !line.startsWith('#')),
  );
  if (keys.length === 0) throw new SettingError(`${name} names a file without a key`);
  return keys;
});

/** @throws SettingError that contains no part of a key */
export function parseKeys(name: string, entries: readonly string[]): AccessKey[] {
  const seen = new Set<string>();
  return entries.map((entry, index) => {
    const key = entry.trim();
    const refuse = (reason: string): never => {
      throw new SettingError(`${name}: key ${index + 1} ${reason}`);
    };
    if (key.length < MIN_LENGTH) refuse(`has ${key.length} characters; it must have at least ${MIN_LENGTH}`);
    if (key.length > MAX_LENGTH) refuse(`has ${key.length} characters; it may have at most ${MAX_LENGTH}`);
    if (!TOKEN.test(key)) refuse('has characters besides letters, digits and -._~+/=');
    const hashed = hashAccessKey(key);
    if (seen.has(hashed.id)) refuse('occurs twice');
    seen.add(hashed.id);
    return hashed;
  });
}
