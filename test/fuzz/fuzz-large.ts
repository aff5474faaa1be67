import { createRandom, mutate, type Random, TOKENS } from './mutate.ts';
import type { FuzzTarget } from './targets/target.ts';

interface LargeFuzzOptions {
  readonly seed: number;
  /** Whether to continue, asked between inputs. */
  readonly shouldContinue: (inputs: number) => boolean;
  /** Processor time of this thread so far. */
  readonly cpuMs?: () => number;
}

interface LargeFuzzResult {
  readonly inputs: number;
  /** Of the slowest input. */
  readonly slowest: { readonly bytes: number; readonly cpuMs: number };
  /** The first input with an error that its target does not announce, or that takes too long. */
  readonly finding?: { readonly input: Buffer; readonly error: unknown };
}

const DEFAULT_BYTES = 64 * 1024;
/** Processor time of one turn of the event loop, and of a task in a separate process. */
const MAX_CPU_MS = { inline: 100, separate: 1500 };

/** An input takes too much processor time. */
export class TooSlow extends Error {
  override readonly name = 'TooSlow';
}

/**
 * Gives one target inputs of up to the size that its reader accepts, in which one part is repeated, and measures processor
 * time: steps that are linear in small inputs may still be too many in large ones, or take memory that has to be collected.
 */
export function fuzzLarge(
  { run, errors = [], seeds, maxBytes = DEFAULT_BYTES, maxInlineBytes = DEFAULT_BYTES }: FuzzTarget,
  { seed, shouldContinue, cpuMs = threadCpuMs }: LargeFuzzOptions,
): LargeFuzzResult {
  const random = createRandom(seed);
  let slowest = { bytes: 0, cpuMs: 0 };
  let inputs = 0;
  while (shouldContinue(inputs)) {
    const input = largeInput(seeds, maxBytes, random);
    inputs += 1;
    const started = cpuMs();
    try {
      run(input);
    } catch (error) {
      if (!errors.some((expected) => error instanceof expected)) return { inputs, slowest, finding: { input, error } };
    }
    const taken = cpuMs() - started;
    if (taken > slowest.cpuMs) slowest = { bytes: input.length, cpuMs: taken };
    const limit = input.length <= maxInlineBytes ? MAX_CPU_MS.inline : MAX_CPU_MS.separate;
    if (taken <= limit) continue;
    const error = new TooSlow(`${taken.toFixed(0)} ms for ${input.length} bytes; the limit is ${limit} ms`);
    return { inputs, slowest, finding: { input, error } };
  }
  return { inputs, slowest };
}

/** A seed, in which one of its parts or a token is repeated, mutated before. */
function largeInput(seeds: FuzzTarget['seeds'], maxBytes: number, random: Random): Buffer {
  const start = Buffer.from(random.pick(seeds));
  const base = random.below(2) === 0 ? start : mutate(start, random, start).subarray(0, maxBytes / 2);
  // From small to large sizes, each as often.
  const size = Math.max(base.length, Math.floor(maxBytes / 2 ** random.below(8)));
  const repeated = Buffer.alloc(size - base.length, partOf(base, random));
  const at = random.pick([0, base.length, random.below(base.length + 1), base.indexOf('\n') + 1]);
  return Buffer.concat([base.subarray(0, at), repeated, base.subarray(at)]);
}

function partOf(base: Buffer, random: Random): Buffer {
  const from = random.below(base.length);
  const choices = [
    Buffer.from(random.pick(TOKENS)),
    base.subarray(from, from + 1 + random.below(100)),
    Buffer.from(`${random.pick(base.toString('latin1').split('\n'))}\n`, 'latin1'),
    base,
  ];
  const part = random.pick(choices);
  return part.length > 0 ? part : Buffer.from('[');
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
