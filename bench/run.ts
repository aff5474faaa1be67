/**
 * `npm run dev -- bench`: side by side with what a user would take instead, in one run on one machine. Needs nginx, FFmpeg and
 * curl; other rivals are left out where they are missing. Arguments name cases: `npm run dev -- bench mux mp3`. `--short` measures
 * everything once, which shows that a case works but gives no figures to quote.
 */
import { parseArgs } from 'node:util';
import { type Case, startBench } from './bench.ts';
import { fairness } from './cases/fairness.ts';
import { list } from './cases/list.ts';
import { memory } from './cases/memory.ts';
import { mp3 } from './cases/mp3.ts';
import { mux } from './cases/mux.ts';
import { page } from './cases/page.ts';
import { pair } from './cases/pair.ts';
import { https, passThrough } from './cases/pass-through.ts';
import { resolve } from './cases/resolve.ts';
import { zip } from './cases/zip.ts';
import { type Figure, reached, table } from './figures.ts';

const CASES: Readonly<Record<string, Case>> = {
  resolve,
  'pass-through': passThrough,
  https,
  mux,
  mp3,
  pair,
  list,
  zip,
  memory,
  page,
  fairness,
};

const { positionals: wanted } = parseArgs({ allowPositionals: true, options: { short: { type: 'boolean' } } });
const names = Object.keys(CASES);
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`No such case: ${unknown.join(', ')}. There are ${names.join(', ')}\n`);
  process.exit(1);
}

const figures: Figure[] = [];
const bench = await startBench();
try {
  for (const [name, measure] of Object.entries(CASES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    process.stderr.write(`Measuring ${name}\n`);
    for await (const figure of measure(bench)) figures.push(figure);
  }
} finally {
  await bench.close();
}
process.stdout.write(`${table(figures)}\n`);
process.exitCode = figures.every(reached) ? 0 : 1;
