/**
 * The short, deterministic part of fuzzing, for `npm test`: the corpus, a few mutations, and long repetitive inputs, which
 * show work that is not linear. Prints one line for each finding, and then the numbers of targets and inputs.
 */
import { readCorpus } from './corpus.ts';
import { fuzzTarget } from './fuzz-target.ts';
import { loadInstrumentedTargets } from './instrumented-targets.ts';
import { TOKENS } from './mutate.ts';

const SEED = 1;
const INPUTS = 120;
const LONG_BYTES = 16 * 1024;

const { targets, ...rest } = await loadInstrumentedTargets();
let inputs = 0;
const report = (name: string, error: unknown, input: Buffer) =>
  process.stdout.write(`FOUND ${name}: ${error} for ${JSON.stringify(input.toString('latin1', 0, 200))}\n`);

for (const [name, target] of Object.entries(targets)) {
  const shouldContinue = (count: number) => count < INPUTS;
  const corpus = await readCorpus(name);
  const { finding, ...result } = fuzzTarget({ targets, ...rest }, name, { seed: SEED, shouldContinue, corpus });
  if (finding) report(name, finding.error, finding.input);
  inputs += result.inputs;
  for (const input of longInputs(target.seeds)) {
    try {
      rest.run(target, input);
    } catch (error) {
      report(name, error, input);
    }
    inputs += 1;
  }
}
process.stdout.write(`${Object.keys(targets).length} targets, ${inputs} inputs\n`);

/** A seed with each token, and with each of its own lines, repeated behind it or within it. */
function longInputs(seeds: readonly (string | Buffer)[]): Buffer[] {
  return seeds.flatMap((seed) => {
    const bytes = Buffer.from(seed);
    const lines = typeof seed === 'string' ? seed.split('\n').map((line) => `${line}\n`) : [];
    const parts = [...TOKENS, ...lines, bytes].map((part) => Buffer.from(part));
    return parts.map((part) => Buffer.concat([bytes, Buffer.alloc(LONG_BYTES, part)]));
  });
}
