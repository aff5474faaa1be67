import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineParser, readPath, SettingError } from './parsers.ts';

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
