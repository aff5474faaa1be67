import { StorageFull } from '../../core/errors/index.ts';
import type { StateStorage } from '../../core/state/index.ts';
import type { SupervisorChannel } from './supervisor-channel.ts';

const METHODS: Readonly<Record<keyof StateStorage, true>> = {
  get: true,
  put: true,
  putIf: true,
  extend: true,
  annotate: true,
  deleteOwned: true,
  addRequest: true,
  countRequests: true,
  requireSpace: true,
};
const NAMES = Object.keys(METHODS) as (keyof StateStorage)[];

/** The table of the service in charge, for one that has handed over and still serves what it has begun. */
export function createRemoteStorage(channel: Pick<SupervisorChannel, 'call'>): StateStorage {
  const methods = NAMES.map((name) => [
    name,
    async (...args: unknown[]) => {
      try {
        return await channel.call(name, args);
      } catch (error) {
        if (error instanceof Error && error.name === 'StorageFull') throw new StorageFull(error.message);
        throw error;
      }
    },
  ]);
  return Object.fromEntries(methods) as StateStorage;
}

/** Answers the calls of `createRemoteStorage` in other processes. */
export function answerCalls(channel: Pick<SupervisorChannel, 'answer'>, storage: StateStorage): void {
  channel.answer(async (name, args) => {
    if (!Object.hasOwn(METHODS, name)) throw new Error(`Unknown call ${name}`);
    const method = storage[name as keyof StateStorage] as (...args: readonly unknown[]) => Promise<unknown>;
    return method(...args);
  });
}
