import { afterAll, beforeAll, describe } from 'vitest';
import { createState } from '../../../core/state/create-state.ts';
import type { State } from '../../../core/state/state.ts';
import type { StoredItem } from '../../../core/state/storage.ts';
import { aResource } from './resources.ts';
import { STORAGES, type StorageFixture } from './storages.ts';

/** Epoch seconds at which the clock of each state starts. */
export const START = 1_800_000_000;

type OpenState = ReturnType<typeof createOpen>;

const createOpen = (fixture: () => StorageFixture) => {
  /** A state with its own table and a fake clock (epoch seconds), and a resource that it does not have yet. */
  async function open() {
    const clock = { now: START };
    const now = () => clock.now * 1000;
    const storage = await fixture().open(now);
    const warnings: string[] = [];
    const log = {
      info: () => undefined,
      error: () => undefined,
      warn: (message: string) => void warnings.push(message),
    };
    const state: State = createState({ storage, now, log });
    const rawItem = async (pk: string): Promise<Partial<StoredItem>> => (await storage.get(pk)) ?? {};
    const resource = aResource(START);
    return { state, clock, storage, warnings, rawItem, resource, read: () => state.getResource(resource.id) };
  }
  return open;
};

/** Tests of `createState` with each storage. @param tests declares them; `open` creates a state with a table of its own */
export const describeState = (title: string, tests: (open: OpenState) => void): void =>
  describe.each(Object.entries(STORAGES))(`${title} with %s`, (_name, startStorage) => {
    let fixture: StorageFixture;
    beforeAll(async () => {
      fixture = await startStorage();
    });
    afterAll(() => fixture?.close());
    tests(createOpen(() => fixture));
  });
