/**
 * `npm run dev -- fuzz`: fuzzes every parser of untrusted input. Options: `--seconds 60` for all targets together, `--seed 1`,
 * `--large` for inputs of the sizes that readers accept, and names of targets. A crashing input is written to `.data/fuzz`; add it to `test/fuzz/corpus/<target>/` with the fix.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readCorpus } from './corpus.ts';
import { fuzzLarge } from './fuzz-large.ts';
import { type FuzzOptions, type FuzzResult, fuzzTarget } from './fuzz-target.ts';
import { loadInstrumentedTargets } from './instrumented-targets.ts';
import { targets } from './targets.ts';

const CRASHES = resolve(import.meta.dirname, '../../.data/fuzz');

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    large: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(targets);
const unknown = names.filter((name) => !(name in targets));
if (unknown.length > 0) {
  process.stderr.write(`No such target: ${unknown}. There are ${Object.keys(targets).join(', ')}\n`);
  process.exit(1);
}
const fuzz = values.large ? fuzzAtSize : await createGuidedFuzz();

for (const name of names) {
  const end = Date.now() + (Number(values.seconds) * 1000) / names.length;
  await report(name, await fuzz(name, { seed: Number(values.seed), shouldContinue: () => Date.now() < end }));
}

interface Outcome extends Pick<FuzzResult, 'inputs' | 'finding'> {
  readonly figures: string;
}

async function createGuidedFuzz(): Promise<(name: string, options: FuzzOptions) => Promise<Outcome>> {
  const instrumented = await loadInstrumentedTargets();
  return async (name, options) => {
    const result = fuzzTarget(instrumented, name, { ...options, corpus: await readCorpus(name) });
    return {
      ...result,
      figures: `${result.corpus.length} kept, at most ${result.stepsPerByte.toFixed(0)} steps per byte`,
    };
  };
}

async function fuzzAtSize(name: string, options: FuzzOptions): Promise<Outcome> {
  const target = targets[name];
  if (!target) throw new Error(`Unknown target ${name}`);
  const { slowest, ...result } = fuzzLarge(target, options);
  return { ...result, figures: `at most ${slowest.cpuMs.toFixed(0)} ms of processor time, for ${slowest.bytes} bytes` };
}

async function report(name: string, { inputs, figures, finding }: Outcome): Promise<void> {
  process.stdout.write(`${name.padEnd(20)} ${inputs} inputs, ${figures}\n`);
  if (!finding) return;
  process.exitCode = 1;
  await mkdir(CRASHES, { recursive: true });
  const file = resolve(CRASHES, `${name}-${Date.now()}`);
  await writeFile(file, finding.input);
  const { error } = finding;
  process.stdout.write(`  FOUND ${error instanceof Error ? error.stack : error}\n  Input: ${file}\n`);
}
