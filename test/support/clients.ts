import { it } from 'vitest';
import { isThere } from './on-path.ts';

const missed = new Set<string>();

/** `it` for tests with a real client; skipped with a warning where it is not installed. */
export function itWith(client: string, isHere = isThere(client)): typeof it {
  // The CI machine has every client: a missing one fails the test there.
  const isLeftOut = !isHere && process.env.CI === undefined;
  if (isLeftOut && !missed.has(client)) {
    missed.add(client);
    process.stderr.write(`\n!! ${client} is not installed: what it would prove is NOT tested here\n`);
  }
  return it.skipIf(isLeftOut) as typeof it;
}
