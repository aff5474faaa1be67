/**
 * `npm run bench`: side by side with what a user would take instead, in one run on one machine. Needs nginx, FFmpeg and
 * curl. Arguments name cases: `npm run bench -- mux mp3`.
 */
import { type Case, startBench } from './bench.ts';
import { archive } from './cases/archive.ts';
import { campaign } from './cases/campaign.ts';
import { coldStart } from './cases/cold-start.ts';
import { crowd } from './cases/crowd.ts';
import { fairness } from './cases/fairness.ts';
import { memory } from './cases/memory.ts';
import { mp3 } from './cases/mp3.ts';
import { mux } from './cases/mux.ts';
import { page } from './cases/page.ts';
import { passThrough } from './cases/pass-through.ts';
import { resolve } from './cases/resolve.ts';
import { slowArchive } from './cases/slow-archive.ts';
import { soak } from './cases/soak.ts';
import { throttled } from './cases/throttled.ts';
import { twin } from './cases/twin.ts';
import { type Figure, reached, table } from './figures.ts';

const CASES: Readonly<Record<string, Case>> = {
  resolve,
  'pass-through': passThrough,
  throttled,
  mux,
  twin,
  mp3,
  crowd,
  soak,
  memory,
  archive,
  'slow-archive': slowArchive,
  fairness,
  page,
  campaign,
  'cold-start': coldStart,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in CASES));
if (unknown.length > 0) {
  process.stderr.write(`No such case: ${unknown.join(', ')}. There are ${Object.keys(CASES).join(', ')}\n`);
  process.exit(1);
}

const bench = await startBench();
const figures: Figure[] = [];
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
