import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/media-tools.ts';

describe('every parser of untrusted input', () => {
  // In a process of its own: built-in functions are metered there.
  it('announces the errors it throws, and takes steps linear in its input', async () => {
    const { code, output } = await runProgram(process.execPath, [resolve(import.meta.dirname, 'replay.ts')]);
    expect(output.split('\n').filter((line) => line.startsWith('FOUND'))).toEqual([]);
    expect(output).toMatch(/^49 targets, \d{5} inputs$/m);
    expect(code).toBe(0);
  });
});
