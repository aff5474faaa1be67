import { setImmediate } from 'node:timers/promises';

/** Milliseconds after which long work returns to the event loop. */
const SLICE_MS = 10;

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Waits for a turn of the event loop that no other caller gets. Work of some milliseconds that several requests do at once
 * then takes a turn each.
 */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

/**
 * Divides work that waits for nothing into slices: other clients wait for one slice at most. Await the result of the function
 * between steps: it returns to the event loop once a slice is over.
 */
export function createSlices(sliceMs = SLICE_MS): () => Promise<void> | undefined {
  let end = performance.now() + sliceMs;
  const nextSlice = async () => {
    await setImmediate();
    end = performance.now() + sliceMs;
  };
  return () => (performance.now() < end ? undefined : nextSlice());
}

/** Collects what an iterator yields, in slices. */
export async function collectInSlices<T>(steps: Iterable<T>, sliceMs = SLICE_MS): Promise<T[]> {
  const collected: T[] = [];
  const endSlice = createSlices(sliceMs);
  for (const step of steps) {
    collected.push(step);
    await endSlice();
  }
  return collected;
}
