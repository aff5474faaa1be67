import { afterEach, beforeEach } from 'vitest';
import { openSqliteStorage, type SqliteStorage } from '../../../core/state/sqlite/sqlite-storage.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

export const START = 1_800_000_000;
export const MIB = 1024 * 1024;

/** A folder for each test, and tables in it that are closed after the test and whose log lines are kept. */
export function useSqlite() {
  const opened: SqliteStorage[] = [];
  const fixture = {
    dir: '',
    logged: [] as string[],
    open(options: Partial<Parameters<typeof openSqliteStorage>[0]> = {}): SqliteStorage {
      const note = (message: string) => void fixture.logged.push(message);
      const log = { info: note, warn: note, error: note };
      const storage = openSqliteStorage({ dir: fixture.dir, now: () => START * 1000, log, ...options });
      opened.push(storage);
      return storage;
    },
    closeAll() {
      for (const storage of opened.splice(0)) storage.close();
    },
  };
  beforeEach(async () => {
    fixture.dir = await temporaryFolder();
    fixture.logged = [];
  });
  afterEach(() => fixture.closeAll());
  return fixture;
}

/** A record that is stored as it is. */
export const recordOf = (name: number | string, { bytes = 50_000, expiresAt = START + 1000 } = {}) => ({
  pk: `resource#${name}`,
  expiresAt,
  v: 1,
  data: new Uint8Array(bytes).fill(7),
});
