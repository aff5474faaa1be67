import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Log, silentLog } from '../../core/log/index.ts';
import { leaveAddress, openState } from '../../local/service/state.ts';
import { createShutdownStack, type ShutdownStack } from '../../packages/concurrency/src/shutdown.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let dir: string;
let shutdown: ShutdownStack;
let logged: string[];
beforeEach(async () => {
  dir = await temporaryFolder();
  shutdown = createShutdownStack();
  logged = [];
});
afterEach(() => shutdown.close());

const openWith = (log: Log, stack: ShutdownStack) => openState({ dataDir: dir, dataMaxBytes: 2 ** 24 }, log, stack);
const open = () => {
  const note = (message: string) => void logged.push(message);
  return openWith({ info: note, warn: note, error: note }, shutdown);
};

/** The folder that version 0.1 leaves: a LevelDB store as a lock, and in it the store of the items. */
async function leaveFormerTable(): Promise<void> {
  for (const store of [join(dir, 'table'), join(dir, 'table', 'items')]) {
    await mkdir(store);
    for (const file of ['CURRENT', 'LOCK', 'MANIFEST-000002']) await writeFile(join(store, file), '');
  }
}

describe('openState', () => {
  it('logs that keys and the count are reset, and removes the table of a former version', async () => {
    await leaveFormerTable();
    const state = open();
    expect(await state.countRequests()).toBe(0);
    expect(logged).toEqual([expect.stringMatching(/all keys and the request count are reset$/)]);
    expect(await readdir(dir)).not.toContain('table');
  });

  it('keeps the former table if the new one cannot be opened', async () => {
    await leaveFormerTable();
    await mkdir(join(dir, 'state.db'));
    expect(open).toThrow(/^The data folder [^\n]+ cannot be used: [^\n]+$/);
    expect(await readdir(join(dir, 'table', 'items'))).toContain('CURRENT');
    expect(logged).toEqual([]);
  });

  it('keeps any other folder named table', async () => {
    await mkdir(join(dir, 'table'));
    await writeFile(join(dir, 'table', 'CURRENT'), '');
    open();
    expect(await readdir(dir)).toContain('table');
    expect(logged).toEqual([]);
  });
});

describe('a second service on the same folder', () => {
  it('is told the address of the first one, while that runs', async () => {
    const first = createShutdownStack();
    openWith(silentLog, first);
    expect(open).toThrow(/^Another process uses the data folder [^\n]+$/);
    leaveAddress(dir, 'http://[::1]:8080', { log: silentLog, shutdown: first });
    expect(open).toThrow(/^Already running at http:\/\/\[::1\]:8080$/);
    await first.close();
    expect(await readdir(dir)).not.toContain('address');
    open();
  });

  it('is not told an address that a killed process has left, or another text', async () => {
    await writeFile(join(dir, 'address'), 'http://localhost:1');
    const first = createShutdownStack();
    openWith(silentLog, first);
    for (const text of [undefined, '\u001b[2J'] as const) {
      if (text !== undefined) await writeFile(join(dir, 'address'), text);
      expect(open).toThrow(/^Another process uses the data folder [^\n]+$/);
    }
    await first.close();
  });
});
