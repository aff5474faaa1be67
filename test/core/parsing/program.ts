import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type ParsingTask, serveTasks } from '../../../core/parsing/task.ts';

/** Entry of a process with tasks that end well, badly or never. */

class OddInput extends Error {}

const tasks: readonly ParsingTask<never, unknown>[] = [
  { name: 'echo', run: (input: unknown) => input },
  {
    name: 'fail',
    run: (message: string) => {
      throw new OddInput(message);
    },
  },
  {
    name: 'loop',
    run: () => {
      for (;;);
    },
  },
  {
    name: 'fill memory',
    run: () => {
      const rows: number[][] = [];
      for (;;) rows.push(new Array(1000).fill(rows.length));
    },
  },
  { name: 'exit', run: () => process.exit(1) },
  // Uses no processor time.
  { name: 'wait', run: () => new Promise((resolve) => setTimeout(resolve, 1e6)) },
  { name: 'read file', run: (path: string) => readFileSync(path, 'utf8') },
  { name: 'write file', run: (path: string) => writeFileSync(path, 'x') },
  { name: 'start process', run: () => execFileSync(process.execPath, ['--version']) },
  { name: 'start thread', run: () => new Worker('', { eval: true }).terminate() },
  { name: 'environment', run: () => Object.keys(process.env) },
];

serveTasks(tasks);
