/**
 * `npm run dev -- pictures`: one picture of every state of the page per width and colour scheme, in `.data/pictures` or the
 * folder given. Further arguments go to vitest: `npm run dev -- pictures .data/pictures -t playing`.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathWithPrograms } from './support/programs.ts';

const ROOT = resolve(import.meta.dirname, '..');
const [folder = resolve(ROOT, '.data/pictures'), ...vitestArgs] = process.argv.slice(2);
const args = ['run', 'test/web/browser/page-states.all.test.ts', ...vitestArgs];
const env = { ...process.env, PATH: await pathWithPrograms(true), PICTURES_DIR: resolve(folder) };
const child = spawn(resolve(ROOT, 'node_modules/.bin/vitest'), args, { stdio: 'inherit', env, cwd: ROOT });
child.once('close', (code) => {
  process.exitCode = code ?? 1;
});
