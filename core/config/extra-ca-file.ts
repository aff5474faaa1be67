import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineParser, SettingError } from './parsers.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The path of a PEM file of certificates, made absolute: yt-dlp runs in another working folder. */
export const extraCaFile = defineParser('a PEM file of certificates', (name, path): string => {
  const file = resolve(path);
  try {
    if (readCertificates(file).length > 0) return file;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new SettingError(`${name} must be a PEM file of certificates: ${file} cannot be read (${code})`, { cause });
  }
  throw new SettingError(`${name} must be a PEM file of certificates: ${file} has none`);
});

/** The certificates of a PEM file. @throws Error with a `code` when the file or one of them cannot be read */
export const readCertificates = (file: string): X509Certificate[] =>
  (readFileSync(file, 'utf8').match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text));
