import { globSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { filesWithoutProgram } from './programs.ts';

/** Prints what was not tested for want of a program: one line for each. */
export default class MissingProgramsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const { note } = test.result() as { readonly note?: string };
        if (note?.endsWith(' is not installed')) lines.set(note, (lines.get(note) ?? 0) + 1);
      }
    }
    const skipped = [...lines].map(([note, count]) => `${note}: ${count} tests skipped`);
    // A narrowed run leaves out others for that.
    const leftOut = modules.length < 20 ? [] : [...filesWithoutProgram()];
    const isGate = process.env.TEST_PART === 'gate';
    const files = leftOut.flatMap(([name, patterns]) => {
      const found = globSync(patterns.map((pattern) => pattern.replace(/\*\*$/, '**/*.test.ts')));
      const count = found.filter((file) => !isGate || !file.endsWith('.all.test.ts')).length;
      return count > 0 ? [`${name} is not installed: ${count} files skipped`] : [];
    });
    if (skipped.length + files.length === 0) return;
    process.stdout.write('\n Not tested here\n');
    for (const line of [...skipped, ...files].sort()) process.stdout.write(`    ${line}\n`);
  }
}
