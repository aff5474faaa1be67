/**
 * `npm test`: every check, then all tests but `*.all.test.ts`. `npm run check`: the checks alone. `npm run test:all`: the other
 * tests, and at the same time the contract suite against what is deployed. Other arguments go to vitest and narrow the run to the
 * tests they match, of both kinds: `npm test -- test/core`, `npm test -- --project unit`.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildPage } from '../local/build-page.ts';
import { pathWithPrograms } from './support/programs.ts';

interface Step {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const NODE_MODULES = resolve(import.meta.dirname, '../node_modules');
const bin = (name: string) => resolve(NODE_MODULES, '.bin', name);
/** Checks again only what has changed since the last run. */
const typeCheck = (name: string, project: string): Step => ({
  name,
  command: bin('tsc'),
  args: [
    ...['-p', project, '--noEmit', '--incremental', '--tsBuildInfoFile'],
    resolve(NODE_MODULES, '.cache/tsc', `${project.replaceAll(/\W/g, '-')}.tsbuildinfo`),
  ],
});

/** Of every `tsconfig.json`. */
const TYPE_CHECKS: readonly Step[] = [
  typeCheck('types', 'tsconfig.json'),
  typeCheck('types of the page', 'web'),
  typeCheck('types of the page tests', 'test/web'),
  typeCheck('types of the client package', 'clients/reelay-client'),
];
const style = (...args: string[]): Step => ({
  name: 'style',
  command: bin('biome'),
  args: ['check', '--error-on-warnings', ...args],
});
const syntheses = (...args: string[]): Step => ({
  name: 'templates of the deployments',
  command: process.execPath,
  args: [resolve(import.meta.dirname, 'infra/synthesize-all.ts'), ...args],
});
const BUNDLED_CONTRACT: Step = {
  name: 'contract suite against the bundles',
  command: process.execPath,
  args: [resolve(import.meta.dirname, 'bundled/contract.ts')],
};

const INHERITED = ['inherit', 'inherit'] as const;
const PIPES = ['pipe', 'pipe'] as const;

const tests = (...args: string[]): Step => ({ name: 'tests', command: bin('vitest'), args: ['run', ...args] });
const REST = '.all.test.ts';

const [first, ...others] = process.argv.slice(2);
const isCheck = first === '--check';
const isRest = first === '--all';
const vitestArgs = isRest ? others : process.argv.slice(2);
const isNarrowed = vitestArgs.some((argument) => !/^--(?:reporter|outputFile)\b/.test(argument));
// Python of the tests keeps its byte code: a package takes seconds to compile at each start.
const { PYTHONDONTWRITEBYTECODE: _, ...ownEnvironment } = process.env;
/** What is built once per run is known by it. */
const inherited = { ...ownEnvironment, TEST_RUN: randomUUID() };
const startedAt = performance.now();
const path = isCheck ? process.env.PATH : pathWithPrograms(!isRest);

if (isCheck) await runChecks(...others);
else if (isNarrowed) await run(tests(...(isRest ? [REST] : []), ...vitestArgs), { path: await path });
else {
  // Before the tests, of which several would build it at the same time.
  await buildPage();
  if (isRest) {
    const options = { path: await path };
    await Promise.all([
      // A test that needs a deployment earlier synthesizes it, or waits for it.
      run(syntheses('--all'), { isBuffered: true }),
      run(tests(REST, ...vitestArgs), options),
      run(BUNDLED_CONTRACT, { ...options, isBuffered: true }),
    ]);
  } else {
    await Promise.all([path, runChecks(), run(syntheses(), { isBuffered: true })]);
    await run(tests(...vitestArgs), { path: await path, environment: { TEST_PART: 'gate' } });
  }
}
process.stdout.write(`\ntotal: ${elapsed(startedAt)}${cpuOfChildren()}\n`);

async function runChecks(...biomeArgs: string[]): Promise<void> {
  for (const check of [...TYPE_CHECKS, style(...biomeArgs)]) await run(check);
}

/**
 * Runs a step to its end; the first one that fails sets the exit code.
 * @param isBuffered writes its output at its end
 * @param path where it finds programs. @default where this process does
 */
async function run(
  { name, command, args }: Step,
  {
    isBuffered = false,
    path = process.env.PATH,
    environment = {},
  }: { isBuffered?: boolean; path?: string | undefined; environment?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  if (process.exitCode) return;
  if (!isBuffered) process.stdout.write(`\n${name}\n`);
  const stepStartedAt = performance.now();
  const stdio = ['inherit', ...(isBuffered ? PIPES : INHERITED)] as const;
  const child = spawn(command, args, { stdio: [...stdio], env: { ...inherited, ...environment, PATH: path } });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.push(chunk));
  const [code] = await once(child, 'close');
  if (isBuffered) process.stdout.write(`\n${name}\n${Buffer.concat(output)}`);
  process.stdout.write(`${name}${code === 0 ? '' : ' failed'}: ${elapsed(stepStartedAt)}\n`);
  if (code !== 0) process.exitCode ||= code ?? 1;
}

function elapsed(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/** CPU time of all child processes that have ended, where /proc has it. */
function cpuOfChildren(): string {
  try {
    // proc(5): fields 16 and 17, cutime and cstime in ticks of 10 ms; the name in field 2 may contain spaces.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return `, ${((Number(fields[13]) + Number(fields[14])) / 100).toFixed(1)} s of CPU time`;
  } catch {
    return '';
  }
}
