/** `npm test`: every check there is, in order of how soon it tells. Arguments narrow the last step: `npm test -- test/layers`. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathWithPrograms } from './programs.ts';

const bin = (name: string) => resolve(import.meta.dirname, '../node_modules/.bin', name);

const steps: [name: string, command: string, args: string[]][] = [
  ['types', bin('tsc'), []],
  ['types of the page', bin('tsc'), ['-p', 'web']],
  ['types of its tests', bin('tsc'), ['-p', 'test/web']],
  ['style', bin('biome'), ['check', '--error-on-warnings']],
  ['tests', bin('vitest'), ['run', ...process.argv.slice(2)]],
];

const env = { ...process.env, PATH: await pathWithPrograms() };
for (const [name, command, args] of steps) {
  process.stdout.write(`\n${name}\n`);
  const { status } = spawnSync(command, args, { stdio: 'inherit', env });
  if (status !== 0) {
    process.stdout.write(`\n${name} failed\n`);
    process.exit(status ?? 1);
  }
}
