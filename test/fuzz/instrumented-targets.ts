import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { createInstrumenter } from 'istanbul-lib-instrument';
import type { FuzzTarget } from './targets/target.ts';
import { installWorkMeter, resetWork, workDone } from './work-meter.ts';

/** Counters of statements and branches: zero since the last reset. */
interface Counters {
  reset(): void;
  /** Of all counters. */
  sum(): number;
  /** Calls `visit` with the number of each counter that is not zero. */
  forEach(visit: (counter: number, count: number) => void): void;
}

/** Targets whose statements are counted, in this process. */
export interface InstrumentedTargets {
  readonly targets: Readonly<Record<string, FuzzTarget>>;
  readonly counters: Counters;
  /**
   * Runs a target with one input.
   * @returns steps: statements and branches, and characters and bytes that built-in functions read or wrote
   * @throws what the target throws, except the errors that it announces; TooManySteps
   */
  run(target: FuzzTarget, input: Buffer): number;
}

/** An input takes more steps than its parser may. */
class TooManySteps extends Error {
  override readonly name = 'TooManySteps';
}

/** Bundles and instruments the targets, and meters the built-in functions of this process: for a process of its own. */
export async function loadInstrumentedTargets(): Promise<InstrumentedTargets> {
  const targets = await importInstrumented(resolve(import.meta.dirname, 'targets.ts'));
  const counters = createCounters();
  installWorkMeter();
  return {
    targets,
    counters,
    run({ run, errors = [], maxSteps }, input) {
      counters.reset();
      resetWork();
      try {
        run(input);
      } catch (error) {
        if (!errors.some((expected) => error instanceof expected)) throw error;
      }
      const steps = workDone() + counters.sum();
      const limit = maxSteps.fixed + maxSteps.perByte * input.length;
      if (steps > limit) throw new TooManySteps(`${steps} steps for ${input.length} bytes; the limit is ${limit}`);
      return steps;
    },
  };
}

/** Below the packages that the bundle imports. */
const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache');
const COVERAGE_VARIABLE = '__fuzzCoverage__';

async function importInstrumented(module: string): Promise<Readonly<Record<string, FuzzTarget>>> {
  const { outputFiles } = await build({
    entryPoints: [module],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    // These parse nothing in the targets.
    external: ['undici', 'typebox', 'socks', 'yauzl'],
    // Some packages in the bundle are CommonJS.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(process.cwd() + '/');" },
  });
  const instrumenter = createInstrumenter({ esModules: true, coverageVariable: COVERAGE_VARIABLE, compact: true });
  const code = instrumenter.instrumentSync(outputFiles[0]?.text ?? '', 'targets.mjs');
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'fuzz-'));
  try {
    const file = join(folder, 'targets.mjs');
    await writeFile(file, code);
    const loaded = (await import(pathToFileURL(file).href)) as Pick<InstrumentedTargets, 'targets'>;
    return loaded.targets;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What istanbul keeps in a global variable for a file: `s` counts statements, `b` the arms of each branch. */
interface IstanbulCoverage {
  s: Record<string, number> | Float64Array;
  readonly b: Record<string, readonly number[] | Float64Array>;
}

/** Replaces the counters by parts of one typed array, which is faster to read. */
function createCounters(): Counters {
  const files = Object.values(Reflect.get(globalThis, COVERAGE_VARIABLE) as Record<string, IstanbulCoverage>);
  const lengthsOf = ({ s, b }: IstanbulCoverage) => [
    Object.keys(s).length,
    ...Object.values(b).map(({ length }) => length),
  ];
  const statements = files.reduce((sum, { s }) => sum + Object.keys(s).length, 0);
  const counts = new Float64Array(files.flatMap(lengthsOf).reduce((sum, length) => sum + length, 0));
  let used = 0;
  const take = (length: number) => {
    used += length;
    return counts.subarray(used - length, used);
  };
  for (const file of files) file.s = take(Object.keys(file.s).length);
  for (const { b } of files) for (const [id, arms] of Object.entries(b)) b[id] = take(arms.length);

  return {
    reset: () => void counts.fill(0),
    sum() {
      let total = 0;
      for (let counter = 0; counter < statements; counter += 1) total += counts[counter] ?? 0;
      return total;
    },
    forEach(visit) {
      for (let counter = 0; counter < counts.length; counter += 1) {
        const count = counts[counter] ?? 0;
        if (count > 0) visit(counter, count);
      }
    },
  };
}
