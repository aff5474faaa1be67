import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createState } from '../../../core/state/create-state.ts';
import { openSqliteStorage, type SqliteStorage } from '../../../core/state/sqlite/sqlite-storage.ts';
import type { State } from '../../../core/state/state.ts';

const START = 1_800_000_000;
const MIB = 1024 * 1024;

let dir: string;
const opened: SqliteStorage[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'reelay-sqlite-'));
});
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  await rm(dir, { recursive: true, force: true });
});

/** Closed after the test. */
function open(options: Partial<Parameters<typeof openSqliteStorage>[0]> = {}): SqliteStorage {
  const storage = openSqliteStorage({ dir, now: () => START * 1000, ...options });
  opened.push(storage);
  return storage;
}

/** Runs once with the table of the folder, as one start of the service does. */
async function start<T>(use: (state: State) => Promise<T>): Promise<T> {
  const storage = openSqliteStorage({ dir });
  try {
    return await use(createState({ storage }));
  } finally {
    await storage.close();
  }
}

/** A record that does not compress. */
const record = (name: string, expiresAt: number, bytes = 100_000) => ({
  pk: `resource#${name}`,
  expiresAt,
  v: 1,
  data: new Uint8Array(randomBytes(bytes)),
});

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe('data folder', () => {
  it('persists across a restart', async () => {
    await start(async (state) => {
      await state.addRequest();
      await state.addRequest();
    });
    await start((state) => state.addRequest());
    expect(await start((state) => state.countRequests())).toBe(3);
  });

  it('in use by another process is reported in one line', () => {
    open();
    expect(() => openSqliteStorage({ dir })).toThrow(/^Another process uses the data folder [^\n]+$/);
  });

  it('remains locked after a failed attempt to open it', async () => {
    const first = open();
    for (let attempt = 0; attempt < 2; attempt++) expect(() => openSqliteStorage({ dir })).toThrow(/^Another process/);
    await first.addRequest();
    expect(await first.countRequests()).toBe(1);
  });

  it.each(['', '/below'])('that is a file is reported in one line (%s)', async (below) => {
    const file = join(dir, 'file');
    await writeFile(file, '');
    expect(() => openSqliteStorage({ dir: file + below })).toThrow(/^The data folder [^\n]+ cannot be used: [^\n]+$/);
  });

  it('is created with missing parents', async () => {
    const deep = join(dir, 'one', 'two', 'three');
    await openSqliteStorage({ dir: deep }).close();
    await openSqliteStorage({ dir: deep }).close();
  });

  it.runIf(existsSync('/proc/self'))('that cannot be created is reported in one line', () =>
    expect(() => openSqliteStorage({ dir: '/proc/reelay/table' })).toThrow(
      /^The data folder \/proc\/reelay\/table cannot be used: [^\n]+$/,
    ),
  );

  it('of a later version is reported in one line and left unchanged', async () => {
    await openSqliteStorage({ dir }).close();
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(dir, 'state.db'));
    database.exec('PRAGMA user_version = 2');
    database.close();
    expect(() => openSqliteStorage({ dir })).toThrow(
      /^The data folder [^\n]+ cannot be used: [^\n]+later version[^\n]+$/,
    );
    expect(await readdir(dir)).not.toContain('state.db.corrupt');
  });
});

describe.skipIf(process.platform === 'win32')('permissions', () => {
  it('exclude other users from a new folder and its files', async () => {
    const created = join(dir, 'data');
    await open({ dir: created }).put(record('a', START + 1));
    expect(await modeOf(created)).toBe('700');
    const files = await readdir(created);
    expect(files).toEqual(expect.arrayContaining(['state.db', 'state.db-wal']));
    for (const file of files) expect([file, await modeOf(join(created, file))]).toEqual([file, '600']);
  });

  it('are withdrawn from an existing folder and file', async () => {
    const existing = join(dir, 'data');
    await mkdir(existing);
    await chmod(existing, 0o755);
    await openSqliteStorage({ dir: existing }).close();
    await chmod(join(existing, 'state.db'), 0o644);
    await chmod(existing, 0o777);
    await open({ dir: existing }).put(record('a', START + 1));
    expect(await modeOf(existing)).toBe('700');
    for (const file of await readdir(existing)) expect(await modeOf(join(existing, file))).toBe('600');
  });

  it('of a shared folder (sticky bit) are kept', async () => {
    const shared = join(dir, 'shared');
    await mkdir(shared);
    await chmod(shared, 0o1777);
    open({ dir: shared });
    expect(await modeOf(shared)).toBe('777');
    expect(await modeOf(join(shared, 'state.db'))).toBe('600');
  });
});

describe('purge', () => {
  it('deletes expired records only', async () => {
    const storage = open();
    await storage.put(record('gone', START));
    await storage.put(record('live', START + 1));
    // An item of another format, whose expiry is no number.
    await storage.put({ ...record('odd', START), expiresAt: 'soon' as never });
    await storage.put({ pk: 'lease', owner: 'one', expiresAt: START - 1 });
    await storage.addRequest();
    await storage.purge();
    expect(await storage.get('resource#gone')).toBeUndefined();
    for (const pk of ['resource#live', 'resource#odd', 'lease']) expect(await storage.get(pk)).toBeDefined();
    expect(await storage.countRequests()).toBe(1);
  });

  it('returns the space of many deleted records to the file system', async () => {
    let time = START;
    const storage = open({ now: () => time * 1000 });
    for (let index = 0; index < 100; index++) await storage.put(record(String(index), START + 1));
    await storage.close();
    const { size: before } = await stat(join(dir, 'state.db'));
    time = START + 1;
    const again = open({ now: () => time * 1000 });
    await again.purge();
    await again.close();
    expect((await stat(join(dir, 'state.db'))).size).toBeLessThan(before / 4);
  });
});

describe('byte budget', () => {
  const maxBytes = 2 * MIB;

  it('evicts the records that expire first', async () => {
    const storage = open({ maxBytes });
    // Not in the order in which they are written: use extends the expiry.
    const order = [7, 3, 11, 1, 9, 5, 0, 10, 2, 8, 4, 6];
    for (const age of order) await storage.put(record(String(age), START + 100 + age));
    await storage.extend('resource#0', { after: START, upTo: START + 100, expiresAt: START + 500 });
    for (let index = 0; index < 10; index++) await storage.put(record(`new-${index}`, START + 1000 + index));
    const kept = await Promise.all(order.map(async (age) => [age, await storage.get(`resource#${age}`)] as const));
    const ages = kept.filter(([, item]) => item).map(([age]) => age);
    expect(ages).toContain(0);
    const evicted = order.filter((age) => !ages.includes(age));
    expect(evicted.length).toBeGreaterThan(0);
    // Whatever was kept expires later than whatever was evicted.
    expect(Math.max(...evicted)).toBeLessThan(Math.min(...ages.filter((age) => age !== 0), Number.POSITIVE_INFINITY));
    for (let index = 0; index < 10; index++) expect(await storage.get(`resource#new-${index}`)).toBeDefined();
  });

  it('keeps leases, the count and the tools record', async () => {
    const storage = open({ maxBytes });
    const state = createState({ storage, now: () => START * 1000 });
    const tools = { ytDlp: '1', ffmpeg: '1', verifiedBy: { ytDlp: 'signature', ffmpeg: 'system' }, installedAt: 1 };
    await state.putTools(tools);
    await state.addRequest();
    await state.takeMaintenance({ activity: 'Updating', owner: 'one', expiresAt: START + 1 });
    await state.rotateOriginSecret('one', 'secret');
    for (let index = 0; index < 100; index++) await storage.put(record(String(index), START + 1000 + index));
    expect(await state.getTools()).toEqual(tools);
    expect(await state.countRequests()).toBe(1);
    expect(await state.getMaintenance()).toMatchObject({ owner: 'one' });
    expect(await state.rotateOriginSecret('one', 'other')).toEqual({ current: 'secret' });
  });

  it('bounds the files', async () => {
    const storage = open({ maxBytes });
    for (let index = 0; index < 300; index++) await storage.put(record(String(index), START + index));
    await storage.close();
    expect((await stat(join(dir, 'state.db'))).size).toBeLessThanOrEqual(maxBytes + MIB / 8);
  });

  it('applies to a table that was written with a larger one', async () => {
    const large = openSqliteStorage({ dir, now: () => START * 1000 });
    for (let index = 0; index < 60; index++) await large.put(record(String(index), START + 100 + index));
    await large.close();
    const small = open({ maxBytes });
    await small.purge();
    expect(await small.get('resource#0')).toBeUndefined();
    expect(await small.get('resource#59')).toBeDefined();
    await small.close();
    expect((await stat(join(dir, 'state.db'))).size).toBeLessThanOrEqual(maxBytes * 1.5);
  });
});

describe('time-sliced operations', () => {
  it('return to the event loop during a burst and all complete', async () => {
    const storage = open();
    let turns = 0;
    let isRunning = true;
    const count = () => {
      turns += 1;
      if (isRunning) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(
      Array.from({ length: 1000 }, (_, index) => storage.put(record(String(index), START + 1, 20_000))),
    );
    isRunning = false;
    expect(turns).toBeGreaterThan(2);
    expect(await storage.get('resource#999')).toBeDefined();
  });

  it('that are queued complete before the table is closed', async () => {
    const storage = openSqliteStorage({ dir });
    const counted = Array.from({ length: 50 }, () => storage.addRequest());
    await storage.close();
    await Promise.all(counted);
    await expect(storage.addRequest()).rejects.toThrow('closed');
    expect(await start((state) => state.countRequests())).toBe(50);
  });
});
