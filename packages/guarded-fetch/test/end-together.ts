import type { Duplex } from 'node:stream';

/** Either of two connections ends with the other. */
export function endTogether(one: Duplex, other: Duplex): void {
  for (const [left, right] of [
    [one, other],
    [other, one],
  ] as const)
    left.on('error', () => right.destroy()).on('close', () => right.destroy());
}
