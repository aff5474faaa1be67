import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether a program is on the PATH. */
export const isThere = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
