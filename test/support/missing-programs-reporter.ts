import { globSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { filesWithoutProgram } from './programs.ts';

/** What the gate may leave out on a bare machine. */
const MAX_SKIPPED = 60;

/** Prints what was not tested for want of a program: one line for each. The gate fails where that is too much. */
export default class MissingProgramsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = new Map<string, number>();
    let count = 0;
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        count += 1;
        const { note } = test.result() as { readonly note?: string };
        if (note?.endsWith(' is not installed')) lines.set(note, (lines.get(note) ?? 0) + 1);
      }
    }
    const skipped = [...lines].map(([note, count]) => `${note}: ${count} tests skipped`);
    // A narrowed run leaves out others for that.
    const leftOut = modules.length < 20 ? [] : [...filesWithoutProgram()];
    const isGate = process.env.TEST_PART === 'gate';
    if (isGate && count > MAX_SKIPPED) {
      process.stdout.write(`\n ${count} tests were skipped, more than ${MAX_SKIPPED}\n`);
      process.exitCode = 1;
    }
    const files = leftOut.flatMap(([name, patterns]) => {
      const found = globSync(patterns.map((pattern) => pattern.replace(/\*\*$/, '**/*.test.ts')));
      const left = found.filter((file) => !isGate || !file.endsWith('.all.test.ts')).length;
      return left > 0 ? [`${name} is not installed: ${left} files skipped`] : [];
    });
    if (skipped.length + files.length === 0) return;
    process.stdout.write('\n Not tested here\n');
    for (const line of [...skipped, ...files].sort()) process.stdout.write(`    ${line}\n`);
  }
}
