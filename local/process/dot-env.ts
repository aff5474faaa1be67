import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { SettingError, settingVariables } from '../../core/config/index.ts';

/** In the working directory. */
const FILE = '.env';

/**
 * Adds the variables of `.env` to an environment. Variables that are set already win, as with `docker compose`.
 * @returns names in the file that are not settings, which may be misspelled
 * @throws SettingError when the file exists but cannot be read
 */
export function loadDotEnv(environment: Record<string, string | undefined> = process.env, file = FILE): string[] {
  const variables = parseEnv(read(file));
  for (const [name, value] of Object.entries(variables)) environment[name] ??= value;
  const settings = settingVariables();
  return Object.keys(variables).filter((name) => !settings.has(name));
}

function read(file: string): string {
  try {
    // Editors of Windows begin it with a byte order mark.
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new SettingError(`${file} cannot be read (${code})`, { cause });
  }
}
