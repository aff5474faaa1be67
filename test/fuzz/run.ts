/**
 * `npm run dev -- fuzz`: fuzzes every parser of untrusted input. Options: `--seconds 60` for all targets together, `--seed 1`,
 * and names of targets. A crashing input is written to `.data/fuzz`; add it to `test/fuzz/corpus/<target>/` with the fix.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readCorpus } from './corpus.ts';
import { type FuzzResult, fuzzTarget } from './fuzz-target.ts';
import { loadInstrumentedTargets } from './instrumented-targets.ts';
import { targets } from './targets.ts';

const CRASHES = resolve(import.meta.dirname, '../../.data/fuzz');

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
  allowPositionals: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(targets);
const unknown = names.filter((name) => !(name in targets));
if (unknown.length > 0) {
  process.stderr.write(`No such target: ${unknown}. There are ${Object.keys(targets).join(', ')}\n`);
  process.exit(1);
}
const instrumented = await loadInstrumentedTargets();

for (const name of names) {
  const end = Date.now() + (Number(values.seconds) * 1000) / names.length;
  const options = { seed: Number(values.seed), shouldContinue: () => Date.now() < end, corpus: await readCorpus(name) };
  await report(name, fuzzTarget(instrumented, name, options));
}

async function report(name: string, { inputs, corpus, stepsPerByte, finding }: FuzzResult): Promise<void> {
  const figures = `${corpus.length} kept, at most ${stepsPerByte.toFixed(0)} steps per byte`;
  process.stdout.write(`${name.padEnd(20)} ${inputs} inputs, ${figures}\n`);
  if (!finding) return;
  process.exitCode = 1;
  await mkdir(CRASHES, { recursive: true });
  const file = resolve(CRASHES, `${name}-${Date.now()}`);
  await writeFile(file, finding.input);
  const { error } = finding;
  process.stdout.write(`  FOUND ${error instanceof Error ? error.stack : error}\n  Input: ${file}\n`);
}
