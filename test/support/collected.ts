import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ATTEMPTS = 10;

setFlagsFromString('--expose-gc');
export const collectGarbage = runInNewContext('gc') as () => void;

/** Collects garbage until an object is gone. @returns false when something keeps it in memory */
export async function isCollected(reference: WeakRef<object>): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS && reference.deref(); attempt++) {
    // A reference that was read keeps its object until the end of the turn.
    await setImmediate();
    collectGarbage();
  }
  return reference.deref() === undefined;
}
