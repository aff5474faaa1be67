/**
 * `npm run dev -- bench`: side by side with what a user would take instead, in one run on one machine. Needs nginx, FFmpeg and
 * curl. Arguments name cases: `npm run dev -- bench mux mp3`.
 */
import { type Case, type StandaloneCase, startBench } from './bench.ts';
import { archive } from './cases/archive.ts';
import { campaign } from './cases/campaign.ts';
import { challenge } from './cases/challenge.ts';
import { coldStart } from './cases/cold-start.ts';
import { crowd } from './cases/crowd.ts';
import { extras } from './cases/extras.ts';
import { fairness } from './cases/fairness.ts';
import { lists } from './cases/lists.ts';
import { memory } from './cases/memory.ts';
import { mp3 } from './cases/mp3.ts';
import { mux } from './cases/mux.ts';
import { page } from './cases/page.ts';
import { passThrough, throttled } from './cases/pass-through.ts';
import { processStart } from './cases/process-start.ts';
import { resolve } from './cases/resolve.ts';
import { sites } from './cases/sites.ts';
import { slowArchive } from './cases/slow-archive.ts';
import { soak } from './cases/soak.ts';
import { twin } from './cases/twin.ts';
import { type Figure, reached, table } from './figures.ts';

/** Run beside rivals and the origin that feeds all of them. */
const CASES: Readonly<Record<string, Case>> = {
  resolve,
  'pass-through': passThrough,
  throttled,
  mux,
  twin,
  extras,
  mp3,
  crowd,
  archive,
  page,
};
/** Start what they need by themselves. */
const STANDALONE_CASES: Readonly<Record<string, StandaloneCase>> = {
  soak,
  memory,
  'slow-archive': slowArchive,
  lists,
  fairness,
  campaign,
  'cold-start': coldStart,
  'process-start': processStart,
  challenge,
  sites,
};

const names = [...Object.keys(CASES), ...Object.keys(STANDALONE_CASES)];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`No such case: ${unknown.join(', ')}. There are ${names.join(', ')}\n`);
  process.exit(1);
}
const chosen = <T>(cases: Readonly<Record<string, T>>) =>
  Object.entries(cases).filter(([name]) => wanted.length === 0 || wanted.includes(name));

const figures: Figure[] = [];
const collect = async (name: string, measured: AsyncIterable<Figure>) => {
  process.stderr.write(`Measuring ${name}\n`);
  for await (const figure of measured) figures.push(figure);
};
const compared = chosen(CASES);
const bench = compared.length > 0 ? await startBench() : undefined;
try {
  if (bench) for (const [name, measure] of compared) await collect(name, measure(bench));
} finally {
  await bench?.close();
}
for (const [name, measure] of chosen(STANDALONE_CASES)) await collect(name, measure());
process.stdout.write(`${table(figures)}\n`);
process.exitCode = figures.every(reached) ? 0 : 1;
