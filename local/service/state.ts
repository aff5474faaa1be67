import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShutdownStack } from '@reelay/concurrency';
import type { Settings } from '../../core/config/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createState, type State } from '../../core/state/index.ts';
import { FolderInUse, openSqliteStorage, type SqliteStorage } from '../../core/state/sqlite/index.ts';
import type { HostParts } from '../process.ts';

/** Folder of the table that versions before 0.2 kept, in another format. */
const FORMER_TABLE = 'table';
/** File with the address of the service that uses the folder, for a second one that is started on it. */
const ADDRESS_FILE = 'address';

type DataFolder = Pick<Settings, 'dataDir' | 'dataMaxBytes'>;

/**
 * Opens the state of the data folder.
 * @throws Error with a message for the operator when the folder cannot be used, or another process uses it: then with its address
 */
export function openState({ dataDir, dataMaxBytes }: DataFolder, log: Log, shutdown: ShutdownStack): State {
  const storage = shutdown.own(openStorage({ dataDir, dataMaxBytes }, log));
  // A process that was killed may have left the file.
  rmSync(join(dataDir, ADDRESS_FILE), { force: true });
  removeFormerTable(join(dataDir, FORMER_TABLE), log);
  return createState({ storage, log });
}

function openStorage({ dataDir, dataMaxBytes }: DataFolder, log: Log): SqliteStorage {
  try {
    return openSqliteStorage({ dir: dataDir, maxBytes: dataMaxBytes, log });
  } catch (error) {
    const address = error instanceof FolderInUse ? readAddress(dataDir) : undefined;
    throw address === undefined ? error : new Error(`Already running at ${address}`, { cause: error });
  }
}

/** The address of the service that uses the folder; undefined until it listens. */
function readAddress(dataDir: string): string | undefined {
  try {
    return /^http:\/\/[\w.:[\]-]+$/.exec(readFileSync(join(dataDir, ADDRESS_FILE), 'utf8'))?.[0];
  } catch {
    return undefined;
  }
}

/** Leaves the address of this service in its data folder until it ends. */
export function leaveAddress(
  dataDir: string,
  baseUrl: string,
  { log, shutdown }: Pick<HostParts, 'log' | 'shutdown'>,
): void {
  const file = join(dataDir, ADDRESS_FILE);
  try {
    writeFileSync(file, baseUrl);
  } catch (error) {
    // For example on a full disk.
    log.warn('Writing the address of the service failed', { error: String(error) });
  }
  shutdown.defer(() => rmSync(file, { force: true }));
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
