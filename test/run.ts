/** `npm test`: every check there is, in order of how soon it tells. Arguments narrow the last step: `npm test -- test/layers`. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathWithPrograms } from './support/programs.ts';

const bin = (name: string) => resolve(import.meta.dirname, '../node_modules/.bin', name);

const BUNDLED = resolve(import.meta.dirname, 'bundled/contract.ts');
const narrowed = process.argv.slice(2);

type Step = [name: string, command: string, args: string[]];
const steps: Step[] = [
  ['types', bin('tsc'), []],
  ['types of the page', bin('tsc'), ['-p', 'web']],
  ['types of its tests', bin('tsc'), ['-p', 'test/web']],
  ['style', bin('biome'), ['check', '--error-on-warnings']],
  ['tests', bin('vitest'), ['run', ...narrowed]],
  // What is deployed has to keep the contract too. A narrowed run is for something else.
  ...(narrowed.length === 0 ? [['contract, bundled', process.execPath, [BUNDLED]] as Step] : []),
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
