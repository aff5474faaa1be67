import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createState } from '../../core/state/create-state.ts';
import { openSqliteStorage, type SqliteStorage } from '../../core/state/sqlite/sqlite-storage.ts';
import type { State } from '../../core/state/state.ts';

/** A state table in a temporary folder. */
interface TemporaryState {
  readonly state: State;
  readonly storage: SqliteStorage;
  close(): Promise<void>;
}

export async function openTemporaryState(): Promise<TemporaryState> {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-state-'));
  const storage = openSqliteStorage({ dir });
  return {
    state: createState({ storage }),
    storage,
    async close() {
      await storage.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
