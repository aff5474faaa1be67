import type { InstrumentedTargets } from './instrumented-targets.ts';
import { createRandom, mutate } from './mutate.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Whether to continue, asked between inputs. */
  readonly shouldContinue: (inputs: number) => boolean;
  /** Further inputs to start from. */
  readonly corpus?: readonly Buffer[];
}

export interface FuzzResult {
  readonly inputs: number;
  /** Inputs that reached something new. */
  readonly corpus: readonly Buffer[];
  /** The most steps per byte of any input of at least 1 KB, without the steps of an empty one. */
  readonly stepsPerByte: number;
  /** The first input with an error that its target does not announce, or with too many steps. */
  readonly finding?: { readonly input: Buffer; readonly error: unknown };
}

const MIN_MEASURED_BYTES = 1024;

/**
 * Fuzzes one target, guided by coverage: an input is kept and mutated further when it reaches a statement or branch for the
 * first time, or ten times more often than before, or takes more steps per byte than any before.
 */
export function fuzzTarget(
  { targets, counters, run }: InstrumentedTargets,
  name: string,
  options: FuzzOptions,
): FuzzResult {
  const target = targets[name];
  if (!target) throw new Error(`Unknown target ${name}`);
  const random = createRandom(options.seed);
  const corpus: Buffer[] = [];
  const reached = new Map<number, number>();
  let mostSteps = 0;
  let inputs = 0;

  const isNew = (): boolean => {
    let found = false;
    counters.forEach((counter, count) => {
      const magnitude = 1 + Math.floor(Math.log10(count));
      if ((reached.get(counter) ?? 0) >= magnitude) return;
      reached.set(counter, magnitude);
      found = true;
    });
    return found;
  };
  const attempt = (input: Buffer): FuzzResult['finding'] => {
    inputs += 1;
    try {
      const stepsPerByte = input.length < MIN_MEASURED_BYTES ? 0 : run(target, input) / input.length;
      if (input.length < MIN_MEASURED_BYTES) run(target, input);
      if (isNew() || stepsPerByte > mostSteps * 1.1) corpus.push(input);
      mostSteps = Math.max(mostSteps, stepsPerByte);
      return undefined;
    } catch (error) {
      return { input, error };
    }
  };

  const initial = [Buffer.alloc(0), ...target.seeds.map((seed) => Buffer.from(seed)), ...(options.corpus ?? [])];
  for (const input of initial) {
    const finding = attempt(input);
    if (finding) return { inputs, corpus, stepsPerByte: mostSteps, finding };
  }
  while (options.shouldContinue(inputs)) {
    // Half of the time from the newest inputs, which are the least explored.
    const recent = corpus.slice(random.below(2) === 0 ? -10 : 0);
    const finding = attempt(mutate(random.pick(recent), random, random.pick(corpus)));
    if (finding) return { inputs, corpus, stepsPerByte: mostSteps, finding };
  }
  return { inputs, corpus, stepsPerByte: mostSteps };
}
