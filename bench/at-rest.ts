import { setTimeout as sleep } from 'node:timers/promises';
import type { Reelay } from './bench.ts';
import type { Figure } from './figures.ts';

/** Open resources of a service. */
interface OpenResources {
  readonly processes: number;
  readonly sockets: number;
  /** Without those of its table. */
  readonly files: number;
}

const INTERVAL_MS = 500;
/** Equal samples in a row that end the wait, and the maximum number of samples. */
const SETTLED_SAMPLES = 16;
const MAX_SAMPLES = 120;

/** Counts once they have stopped changing: connections kept for the next request close by themselves. */
export async function atRest(service: Reelay): Promise<OpenResources> {
  const sample = (): OpenResources => {
    const open = service.descriptors();
    const sockets = open.filter((link) => /^(socket|pipe):/.test(link)).length;
    const files = open.filter((link) => link.startsWith('/') && !link.startsWith(service.dataDir)).length;
    return { processes: service.processes(), sockets, files };
  };
  let last = sample();
  for (let equal = 0, samples = 0; equal < SETTLED_SAMPLES && samples < MAX_SAMPLES; samples += 1) {
    await sleep(INTERVAL_MS);
    const now = sample();
    equal = JSON.stringify(now) === JSON.stringify(last) ? equal + 1 : 0;
    last = now;
  }
  return last;
}

/** A figure for each kind of resource that is open beyond those before. */
export const leftFigures = (what: string, before: OpenResources, after: OpenResources): Figure[] =>
  (['processes', 'sockets', 'files'] as const).map((kind) => ({
    what: `${what}: ${kind} left`,
    ours: after[kind] - before[kind],
    atMost: 0,
  }));
