import type { Server } from './processes.ts';

/** What a service has open. */
export interface OpenResources {
  readonly processes: number;
  readonly sockets: number;
  /** Without those of its table. */
  readonly files: number;
}

const INTERVAL_MS = 500;
/** Unchanged looks that count as rest, and looks at most. */
const STILL = 16;
const MAX_LOOKS = 120;

/** Counts once they have stopped changing: connections kept for the next request close by themselves. @param data folder of the table */
export async function atRest(service: Server, data: string): Promise<OpenResources> {
  const look = (): OpenResources => {
    const open = service.descriptors();
    const sockets = open.filter((link) => /^(socket|pipe):/.test(link)).length;
    const files = open.filter((link) => link.startsWith('/') && !link.startsWith(data)).length;
    return { processes: service.processes(), sockets, files };
  };
  let last = look();
  for (let still = 0, looks = 0; still < STILL && looks < MAX_LOOKS; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    const now = look();
    still = JSON.stringify(now) === JSON.stringify(last) ? still + 1 : 0;
    last = now;
  }
  return last;
}
