import { setTimeout as sleep } from 'node:timers/promises';

/** Handles that the file that opened them has to close. Sockets are left out: clients keep idle ones. */
const HANDLES = ['ProcessWrap', 'TCPServerWrap', 'FSEventWrap'];
const LISTENERS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException'];
/** A closed server or an ended process leaves the list an event or two later. */
const SETTLE_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 20;

type Counts = ReadonlyMap<string, number>;

/** What the files of this worker share on purpose. */
let kept: Counts = new Map();
let usesShared = false;

/** Starts something that the files of a worker share and that ends with the worker. */
export async function keepOpen<T>(start: () => Promise<T>): Promise<T> {
  const before = openHandles();
  const started = await start();
  kept = add(kept, openHandles(), before);
  return started;
}

/** Says that the file uses a service or browser of its worker, which starts processes when it needs them and keeps them. */
export function usesSharedService(): void {
  usesShared = true;
}

/** Records what this process has open before a file. @returns waits until no more is open, and returns what still is */
export function watchLeftovers(): () => Promise<readonly string[]> {
  const before = openHandles();
  const keptBefore = kept;
  usesShared = false;
  const leftovers = (): string[] => {
    if (usesShared) return [];
    const counts = add(add(openHandles(), keptBefore, kept), new Map(), before);
    return [...counts].flatMap(([name, count]) => (count > 0 ? [`${count} × ${name}`] : []));
  };
  return async () => {
    const endsAt = Date.now() + SETTLE_TIMEOUT_MS;
    while (leftovers().length > 0 && Date.now() < endsAt) await sleep(POLL_INTERVAL_MS);
    return leftovers();
  };
}

/** Number of open handles and of listeners, by name. */
function openHandles(): Counts {
  const resources = process.getActiveResourcesInfo();
  return new Map([
    ...HANDLES.map((name) => [name, resources.filter((resource) => resource === name).length] as const),
    ...LISTENERS.map((name) => [`listener of ${name}`, process.listenerCount(name)] as const),
  ]);
}

/** `counts + more - less` */
const add = (counts: Counts, more: Counts, less: Counts): Counts =>
  new Map(
    [...new Set([...counts.keys(), ...more.keys(), ...less.keys()])].map((name) => [
      name,
      (counts.get(name) ?? 0) + (more.get(name) ?? 0) - (less.get(name) ?? 0),
    ]),
  );
