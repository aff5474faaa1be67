import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** Prints the files that took longest, and the time of each project: set-up, import and tests together. */
export default class SlowestFilesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .map((module) => ({ path: relative(process.cwd(), module.moduleId), ms: totalMs(module) }))
      .sort((a, b) => b.ms - a.ms)
      .slice(0, SHOWN);
    if (modules.length <= SHOWN) return;
    process.stdout.write('\n Slowest files\n');
    for (const { path, ms } of files) writeRow(ms, path);

    const projects = new Map<string, number>();
    for (const module of modules)
      projects.set(module.project.name, (projects.get(module.project.name) ?? 0) + totalMs(module));
    process.stdout.write('\n All files, by project\n');
    for (const [name, ms] of projects) writeRow(ms, name);
  }
}

function writeRow(ms: number, label: string): void {
  process.stdout.write(`${(ms / 1000).toFixed(1).padStart(8)} s  ${label}\n`);
}

function totalMs(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return collectDuration + setupDuration + duration;
}
