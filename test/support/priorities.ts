import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { onTestFinished } from 'vitest';

/** Outlives this module, which some workers load once for each file. */
const REAL = Symbol.for('setPriority of this process');
const kept = globalThis as typeof globalThis & { [REAL]?: typeof os.setPriority };
kept[REAL] ??= os.setPriority;
const setPriority = kept[REAL];

function use(replacement: typeof os.setPriority): void {
  Object.assign(os, { setPriority: replacement });
  syncBuiltinESMExports();
}

/**
 * Leaves child processes the priority of this process. FFmpeg and the parsers give way to streams: beside other loads they
 * would get too little processor time to start before their time limits.
 */
export const keepPriorities = (): void => use(() => undefined);

/** Lets child processes give way until the end of the test. */
export function changePriorities(): void {
  use(setPriority);
  onTestFinished(keepPriorities);
}
