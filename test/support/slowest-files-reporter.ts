import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** Prints the files that took longest: set-up, import and tests together. */
export default class SlowestFilesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .map((module) => ({ path: relative(process.cwd(), module.moduleId), ms: totalMs(module) }))
      .sort((a, b) => b.ms - a.ms)
      .slice(0, SHOWN);
    if (modules.length <= SHOWN) return;
    process.stdout.write('\n Slowest files\n');
    for (const { path, ms } of files) process.stdout.write(`${(ms / 1000).toFixed(1).padStart(8)} s  ${path}\n`);
  }
}

function totalMs(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return collectDuration + setupDuration + duration;
}
