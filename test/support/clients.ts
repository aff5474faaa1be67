import { it } from 'vitest';
import { isThere } from './on-path.ts';

const missed = new Set<string>();

/** `it` for a test that a real client drives. Where nobody has installed the client it is left out, and said aloud. */
export function itWith(client: string, isHere = isThere(client)): typeof it {
  // The machine that decides whether work lands has every client: there the test fails by itself.
  const isLeftOut = !isHere && process.env.CI === undefined;
  if (isLeftOut && !missed.has(client)) {
    missed.add(client);
    process.stderr.write(`\n!! ${client} is not installed: what it would prove is NOT tested here\n`);
  }
  return it.skipIf(isLeftOut) as typeof it;
}
