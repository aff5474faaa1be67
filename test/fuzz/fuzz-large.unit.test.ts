import { describe, expect, it } from 'vitest';
import { fuzzLarge } from './fuzz-large.ts';
import type { FuzzTarget } from './targets/target.ts';

const KB = 1024;

/** Fuzzes a parser that takes so many milliseconds for each KB, by a clock of its own. */
function fuzz(msPerKb: number, target: Partial<FuzzTarget> = {}) {
  let cpuMs = 0;
  const sizes: number[] = [];
  const run = (input: Buffer) => {
    sizes.push(input.length);
    cpuMs += (msPerKb * input.length) / KB;
    target.run?.(input);
  };
  const result = fuzzLarge(
    { seeds: ['a line\nanother\n'], maxSteps: { fixed: 0, perByte: 0 }, ...target, run },
    { seed: 1, shouldContinue: (inputs) => inputs < 200, cpuMs: () => cpuMs },
  );
  return { ...result, sizes };
}

describe('fuzzLarge', () => {
  it('makes inputs of all sizes up to the bound', () => {
    const { inputs, sizes, finding } = fuzz(0, { maxBytes: 1000 * KB });
    expect([inputs, finding]).toEqual([200, undefined]);
    expect(Math.max(...sizes)).toBe(1000 * KB);
    expect(Math.min(...sizes)).toBeLessThan(10 * KB);
    expect(Math.max(...fuzz(0).sizes)).toBe(64 * KB);
  });

  it('repeats a part of a seed or a token', () => {
    const inputs: string[] = [];
    fuzz(0, { run: (input) => void inputs.push(input.toString('latin1')) });
    expect(inputs.some((input) => input.includes('another\n'.repeat(100)))).toBe(true);
    expect(inputs.some((input) => input.includes('[[[['.repeat(100)))).toBe(true);
  });

  it.each([
    ['a turn of the event loop has', 2, {}],
    ['a turn has for more that is parsed in it', 0.2, { maxBytes: 600 * KB, maxInlineBytes: 600 * KB }],
    ['a parsing process has', 2, { maxBytes: 1000 * KB, maxInlineBytes: 0 }],
  ])('finds what takes more time than %s', (_, msPerKb, target) => {
    expect(fuzz(msPerKb, target).finding?.error).toMatchObject({ name: 'TooSlow' });
    expect(fuzz(msPerKb / 2, target).finding).toBeUndefined();
  });

  it('finds errors that the target does not announce', () => {
    const run = () => {
      throw new RangeError('Out of memory');
    };
    expect(fuzz(0, { run }).finding?.error).toBeInstanceOf(RangeError);
    expect(fuzz(0, { run, errors: [RangeError] }).finding).toBeUndefined();
  });
});
