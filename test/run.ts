/**
 * `npm test`: every check, then every test, then the contract suite against what is deployed. Arguments go to vitest and
 * narrow the run to the tests they match: `npm test -- test/core`, `npm test -- --project unit`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathWithPrograms } from './support/programs.ts';

interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const bin = (name: string) => resolve(import.meta.dirname, '../node_modules/.bin', name);

const CHECKS: readonly Step[] = [
  { name: 'types', command: bin('tsc'), args: [] },
  { name: 'types of the page', command: bin('tsc'), args: ['-p', 'web'] },
  { name: 'types of the page tests', command: bin('tsc'), args: ['-p', 'test/web'] },
  { name: 'style', command: bin('biome'), args: ['check', '--error-on-warnings'] },
];
const BUNDLED_CONTRACT: Step = {
  name: 'contract suite against the bundles',
  command: process.execPath,
  args: [resolve(import.meta.dirname, 'bundled/contract.ts')],
};

const vitestArgs = process.argv.slice(2);
const tests: Step = { name: 'tests', command: bin('vitest'), args: ['run', ...vitestArgs] };
const isNarrowed = vitestArgs.some((argument) => !/^--(?:reporter|outputFile)\b/.test(argument));
const steps = isNarrowed ? [tests] : [...CHECKS, tests, BUNDLED_CONTRACT];

const env = { ...process.env, PATH: await pathWithPrograms() };
for (const { name, command, args } of steps) {
  process.stdout.write(`\n${name}\n`);
  const startedAt = performance.now();
  const [code] = await once(spawn(command, args, { stdio: 'inherit', env }), 'exit');
  if (code !== 0) {
    process.stdout.write(`\n${name} failed\n`);
    process.exit(code ?? 1);
  }
  process.stdout.write(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
}
