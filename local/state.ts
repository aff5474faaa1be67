import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ShutdownStack } from '../core/concurrency/index.ts';
import type { Settings } from '../core/config/index.ts';
import type { Log } from '../core/log/index.ts';
import { createState, type State } from '../core/state/index.ts';
import { openSqliteStorage } from '../core/state/sqlite/index.ts';

/** Folder of the table that versions before 0.2 kept, in another format. */
const FORMER_TABLE = 'table';

/**
 * Opens the state of the data folder.
 * @throws Error with a message for the operator when the folder cannot be used or another process uses it
 */
export function openState(
  { dataDir, dataMaxBytes }: Pick<Settings, 'dataDir' | 'dataMaxBytes'>,
  log: Log,
  shutdown: ShutdownStack,
): State {
  const storage = shutdown.own(openSqliteStorage({ dir: dataDir, maxBytes: dataMaxBytes, log }));
  removeFormerTable(join(dataDir, FORMER_TABLE), log);
  return createState({ storage, log });
}

/** Called once the new table is open. Nothing can read the former one: its keys lived for a day. */
function removeFormerTable(dir: string, log: Log): void {
  // A LevelDB store within a LevelDB store; any other folder of this name is not ours.
  if (!existsSync(join(dir, 'CURRENT')) || !existsSync(join(dir, 'items', 'CURRENT'))) return;
  log.warn('The table of a former version cannot be read: all keys and the request count are reset', { removed: dir });
  try {
    rmSync(dir, { recursive: true });
  } catch (error) {
    log.warn('Removing the table of a former version failed', { error: String(error) });
  }
}
