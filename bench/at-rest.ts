import type { Server } from './processes.ts';

/** Open resources of a service. */
export interface OpenResources {
  readonly processes: number;
  readonly sockets: number;
  /** Without those of its table. */
  readonly files: number;
}

const INTERVAL_MS = 500;
/** Equal samples in a row that end the wait, and the maximum number of samples. */
const SETTLED_SAMPLES = 16;
const MAX_SAMPLES = 120;

/**
 * Counts once they have stopped changing: connections kept for the next request close by themselves.
 * @param data folder of the table
 */
export async function atRest(service: Server, data: string): Promise<OpenResources> {
  const sample = (): OpenResources => {
    const open = service.descriptors();
    const sockets = open.filter((link) => /^(socket|pipe):/.test(link)).length;
    const files = open.filter((link) => link.startsWith('/') && !link.startsWith(data)).length;
    return { processes: service.processes(), sockets, files };
  };
  let last = sample();
  for (let equal = 0, samples = 0; equal < SETTLED_SAMPLES && samples < MAX_SAMPLES; samples += 1) {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    const now = sample();
    equal = JSON.stringify(now) === JSON.stringify(last) ? equal + 1 : 0;
    last = now;
  }
  return last;
}
