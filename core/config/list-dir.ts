import { readdirSync } from 'node:fs';
import { SettingError } from './parsers.ts';

/** The names in a folder that a setting names. @throws SettingError when it cannot be read */
export function listDir(name: string, accepts: string, dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new SettingError(`${name} must be ${accepts}: ${dir} cannot be read (${code})`, { cause });
  }
}
