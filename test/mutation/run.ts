/**
 * `npm run dev -- mutation`: whether tests notice changes of the code. With `--sample 200`: mutants of the code that plans, reads and
 * writes media, in copies of the last commit, each run against the unit tests that reach its file, then against tests of the service
 * that reach its place. Without: all mutants of the pure modules by Stryker, to which the arguments go.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutantsOf, planted, probed, sampleOf } from './mutants.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DATA = join(ROOT, '.data/mutation');
const CODE = ['stream-service/outputs/**/*.ts', 'packages/{source,seekable-media}/src/**/*.ts'];
const SERVICE_TESTS = [
  'test/{stream-service,contract,faults}/**/*.test.ts',
  'packages/{source,seekable-media}/test/**/*.test.ts',
];
/** They take minutes, and reach what other rows of the matrix reach. */
const TOO_SLOW = /\/(seeks|twins)\.all\.test\.ts$/;
/** Tests of the service for each mutant that the unit tests leave: the quickest that reach it. */
const SERVICE_FILES = 3;
const LIMIT_MS = 240_000;

/** The test file that fails for a mutant, the time that ran out, or nothing. */
type Killer = string | null;

/** Leaders of the groups of test runs: a mutant may make one endless. */
const running = new Set<number>();
process.on('exit', () => {
  for (const leader of running) process.kill(-leader, 'SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const { values: options } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '2026' },
    copies: { type: 'string', default: '2' },
  },
  strict: false,
});
if (options.sample === undefined) await runStryker();
else await judgeSample(Number(options.sample), Number(options.seed), Number(options.copies));

async function runStryker(): Promise<void> {
  const program = join(ROOT, 'node_modules/.bin/stryker');
  const [code] = await once(spawn(program, ['run', ...process.argv.slice(2)], { stdio: 'inherit' }), 'exit');
  process.exitCode = code ?? 1;
}

/** Prints each mutant with what killed it, and the rate. Results stay in `.data/mutation`: a run that was stopped goes on. */
async function judgeSample(count: number, seed: number, copies: number): Promise<void> {
  mkdirSync(DATA, { recursive: true });
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  const folders = Array.from({ length: copies }, (_, index) => copyOfCommit(join(DATA, `tree-${index}`), commit));
  process.chdir(folders[0] as string);
  const files = CODE.flatMap((pattern) => globSync(pattern)).filter((file) => !file.endsWith('index.ts'));
  const mutants = sampleOf(mutantsOf(files.sort()), count, seed);
  const known = readJson<Record<string, Killer>>(`killed-${commit}`) ?? {};
  // What killed a mutant before most likely kills it again.
  const former = readJson<Record<string, Killer>>('killed') ?? {};

  /** Runs tests with each mutant that nothing has killed yet. */
  const judge = (stage: string, killerOf: (folder: string, mutant: Mutant, number: number) => Promise<Killer>) =>
    inEach(folders, [...mutants.entries()], async (folder, [number, mutant]) => {
      const key = keyOf(mutant);
      if ((known[key] ?? null) !== null || known[`${stage} ${key}`] !== undefined) return;
      const killer = await withMutant(mutant, folder, () => killerOf(folder, mutant, number));
      known[key] = killer;
      known[`${stage} ${key}`] = killer;
      writeJson(`killed-${commit}`, known);
      process.stdout.write(`${stage}\t${number + 1}\t${key}\t${killer ?? 'survives'}\n`);
    });
  await judge('unit tests', async (folder, { file }, number) => {
    const test = former[keyOf(mutants[number] as Mutant)];
    const again = test && existsSync(join(folder, test)) ? await failingFile(folder, ['run', test]) : null;
    return (
      again ??
      failingFile(folder, ['related', file, '--run', '--project', 'unit', '--exclude', 'test/{docs,structure}/**'])
    );
  });
  const reached = await kept(`reached-${commit}`, () => recordReached(mutants, folders));
  await judge('service tests', async (folder, _, number) => {
    for (const test of reached[number]?.slice(0, SERVICE_FILES) ?? []) {
      const killer = await failingFile(folder, ['run', test]);
      if (killer !== null) return killer;
    }
    return null;
  });
  writeJson('killed', { ...former, ...known });
  const killed = mutants.filter((mutant) => (known[keyOf(mutant)] ?? null) !== null).length;
  process.stdout.write(`${killed} of ${mutants.length} killed: ${(killed / mutants.length).toFixed(3)}\n`);
}

async function withMutant<T>(mutant: Mutant, folder: string, run: () => Promise<T>): Promise<T> {
  const file = join(folder, mutant.file);
  const code = readFileSync(file, 'utf8');
  writeFileSync(file, planted(code, mutant));
  try {
    return await run();
  } finally {
    writeFileSync(file, code);
  }
}

/** For each mutant the tests of the service that come to its place, quickest first. */
async function recordReached(mutants: readonly Mutant[], folders: readonly string[]): Promise<string[][]> {
  const tests = SERVICE_TESTS.flatMap((pattern) => globSync(pattern)).filter(
    (file) => !file.endsWith('.unit.test.ts') && !TOO_SLOW.test(file),
  );
  const reached: { test: string; ms: number; numbers: number[] }[] = [];
  const restores = folders.map((folder) => plantProbes(mutants, folder));
  try {
    await inEach(folders, tests, async (folder, test) => {
      const started = performance.now();
      rmSync(recordIn(folder), { force: true });
      await failingFile(folder, ['run', test]);
      const lines = existsSync(recordIn(folder)) ? readFileSync(recordIn(folder), 'utf8').trim().split('\n') : [];
      reached.push({ test, ms: performance.now() - started, numbers: [...new Set(lines)].map(Number) });
      process.stdout.write(`${test} reaches ${reached.at(-1)?.numbers.length} mutants\n`);
    });
  } finally {
    for (const restore of restores) restore();
  }
  reached.sort((a, b) => a.ms - b.ms);
  return mutants.map((_, number) => reached.filter(({ numbers }) => numbers.includes(number)).map(({ test }) => test));
}

function plantProbes(mutants: readonly Mutant[], folder: string): () => void {
  const byFile = Map.groupBy(mutants.entries(), ([, { file }]) => file);
  const former = [...byFile].map(([file, numbered]) => {
    const path = join(folder, file);
    const code = readFileSync(path, 'utf8');
    writeFileSync(path, probed(code, numbered, recordIn(folder)));
    return () => writeFileSync(path, code);
  });
  return () => {
    for (const restore of former) restore();
  };
}

/** Runs tests until one fails. @returns its file, or that time ran out, or `null` where all pass */
async function failingFile(folder: string, args: readonly string[]): Promise<Killer> {
  const report = join(folder, '.mutation-report.json');
  rmSync(report, { force: true });
  const program = [
    'node_modules/vitest/vitest.mjs',
    ...args,
    '--bail',
    '1',
    '--passWithNoTests',
    '--reporter',
    'json',
    '--outputFile',
    report,
  ];
  const child = spawn(process.execPath, program, { cwd: folder, stdio: 'ignore', detached: true });
  const { pid } = child;
  if (pid === undefined) throw new Error('No test run starts');
  running.add(pid);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    process.kill(-pid, 'SIGKILL');
  }, LIMIT_MS);
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  running.delete(pid);
  if (isLate) return 'time ran out';
  if (code === 0) return null;
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: { name: string; assertionResults: { status: string }[] }[];
  };
  // Files that did not begin because of `--bail` have failed, too.
  const failing = testResults.find(({ assertionResults }) =>
    assertionResults.some(({ status }) => status === 'failed'),
  );
  return failing === undefined ? 'the run failed' : relative(folder, failing.name);
}

/** A work tree of a commit with the modules of this one, none of whose files is changed. */
function copyOfCommit(folder: string, commit: string): string {
  if (!existsSync(folder)) {
    execFileSync('git', ['worktree', 'add', '--force', '--detach', folder, commit], { cwd: ROOT });
    execFileSync('cp', ['-al', join(ROOT, 'node_modules'), folder]);
    symlinkSync(join(ROOT, '.data'), join(folder, '.data'));
  }
  execFileSync('git', ['checkout', '--quiet', '--force', '--detach', commit], { cwd: folder });
  return folder;
}

/** Gives each item to the next folder that is free. */
async function inEach<T>(
  folders: readonly string[],
  items: readonly T[],
  work: (folder: string, item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  await Promise.all(
    folders.map(async (folder) => {
      for (const item of queue) await work(folder, item);
    }),
  );
}

async function kept<T>(name: string, make: () => Promise<T>): Promise<T> {
  const value = readJson<T>(name) ?? (await make());
  writeJson(name, value);
  return value;
}

function readJson<T>(name: string): T | null {
  const path = join(DATA, `${name}.json`);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : null;
}

function writeJson(name: string, value: unknown): void {
  writeFileSync(join(DATA, `${name}.json`), JSON.stringify(value));
}

function recordIn(folder: string): string {
  return join(folder, '.mutation-record');
}

function keyOf({ file, text, from, to }: Mutant): string {
  return `${file}\t${text.trim()}\t${from} → ${to}`;
}
