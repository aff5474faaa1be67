import { it, TestRunner } from 'vitest';
import { isThere } from './on-path.ts';

/** Why tests are skipped, as MissingProgramsReporter reads it. */
const reasonFor = (program: string) => `${program} is not installed`;

/** `it` for tests with a program; skipped with the reason where it is not installed. */
export function itWith(program: string, isHere = isThere(program)): typeof it {
  if (isHere) return it;
  return it.extend('missing', { auto: true }, ({ skip }) => skip(reasonFor(program))) as unknown as typeof it;
}

/** Skips the running test, with the reason, where a program is not installed. @throws Error outside of a test */
export function needs(...programs: readonly string[]): void {
  const missing = programs.find((program) => !isThere(program));
  if (missing === undefined) return;
  TestRunner.getCurrentTest()?.context.skip(reasonFor(missing));
  throw new Error(reasonFor(missing));
}
