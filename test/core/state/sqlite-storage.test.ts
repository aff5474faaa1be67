import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createState } from '../../../core/state/create-state.ts';
import { MIB, recordOf, START, useSqlite } from './sqlite-fixture.ts';

const table = useSqlite();
const file = () => join(table.dir, 'state.db');
const sizeOf = async (path: string) => (await stat(path)).size;
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
const aRecord = (name: number | string, expiresAt: number) => recordOf(name, { bytes: 100_000, expiresAt });

describe('data folder', () => {
  it('persists across a restart, until the table is closed', async () => {
    for (let expected = 1; expected <= 3; expected++) {
      const storage = table.open();
      await storage.addRequest();
      expect(await storage.countRequests()).toBe(expected);
      storage.close();
      await expect(storage.addRequest()).rejects.toThrow('closed');
    }
  });

  it('in use is reported in one line, and remains locked after failed attempts to open it', async () => {
    const first = table.open();
    for (let attempt = 0; attempt < 2; attempt++)
      expect(() => table.open()).toThrow(/^Another process uses the data folder [^\n]+$/);
    await first.addRequest();
    expect(await first.countRequests()).toBe(1);
  });

  it.each(['', '/below'])('that is a file is reported in one line (%s)', async (below) => {
    const other = join(table.dir, 'file');
    await writeFile(other, '');
    expect(() => table.open({ dir: other + below })).toThrow(/^The data folder [^\n]+ cannot be used: [^\n]+$/);
  });

  it.runIf(existsSync('/proc/self'))('that cannot be created is reported in one line', () =>
    expect(() => table.open({ dir: '/proc/reelay/table' })).toThrow(
      /^The data folder \/proc\/reelay\/table cannot be used: [^\n]+$/,
    ),
  );

  it('is created with missing parents', () => {
    for (let attempt = 0; attempt < 2; attempt++) table.open({ dir: join(table.dir, 'one', 'two', 'three') }).close();
  });

  it('of a later version is reported in one line and left unchanged', async () => {
    table.open().close();
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(file());
    database.exec('PRAGMA user_version = 2');
    database.close();
    expect(() => table.open()).toThrow(/^The data folder [^\n]+ cannot be used: [^\n]+later version[^\n]+$/);
    expect(await readdir(table.dir)).not.toContain('state.db.corrupt');
  });
});

describe.skipIf(process.platform === 'win32')('permissions', () => {
  it('exclude other users from a new folder and its files', async () => {
    const dir = join(table.dir, 'data');
    await table.open({ dir }).put(recordOf('a'));
    expect(await modeOf(dir)).toBe('700');
    const files = await readdir(dir);
    expect(files).toEqual(expect.arrayContaining(['state.db', 'state.db-wal']));
    for (const each of files) expect([each, await modeOf(join(dir, each))]).toEqual([each, '600']);
  });

  it('are withdrawn from an existing folder and file', async () => {
    const dir = join(table.dir, 'data');
    table.open({ dir }).close();
    await chmod(join(dir, 'state.db'), 0o644);
    await chmod(dir, 0o777);
    await table.open({ dir }).put(recordOf('a'));
    expect(await modeOf(dir)).toBe('700');
    for (const each of await readdir(dir)) expect(await modeOf(join(dir, each))).toBe('600');
  });

  it('of a shared folder (sticky bit) are kept', async () => {
    const dir = join(table.dir, 'shared');
    await mkdir(dir);
    await chmod(dir, 0o1777);
    table.open({ dir });
    expect(await modeOf(dir)).toBe('777');
    expect(await modeOf(join(dir, 'state.db'))).toBe('600');
  });
});

describe('purge', () => {
  it('deletes expired records only', async () => {
    const storage = table.open();
    await storage.put(aRecord('gone', START));
    await storage.put(aRecord('live', START + 1));
    // An item of another format, whose expiry is no number.
    await storage.put({ ...aRecord('odd', START), expiresAt: 'soon' as never });
    await storage.put({ pk: 'lease', owner: 'one', expiresAt: START - 1 });
    await storage.addRequest();
    await storage.purge();
    expect(await storage.get('resource#gone')).toBeUndefined();
    for (const pk of ['resource#live', 'resource#odd', 'lease']) expect(await storage.get(pk)).toBeDefined();
    expect(await storage.countRequests()).toBe(1);
  });

  it('returns the space of many deleted records to the file system', async () => {
    let time = START;
    const storage = table.open({ now: () => time * 1000 });
    for (let index = 0; index < 100; index++) await storage.put(aRecord(index, START + 1));
    storage.close();
    const before = await sizeOf(file());
    time = START + 1;
    const again = table.open({ now: () => time * 1000 });
    await again.purge();
    again.close();
    expect(await sizeOf(file())).toBeLessThan(before / 4);
  });
});

describe('byte budget', () => {
  const maxBytes = 2 * MIB;

  it('evicts the records that expire first', async () => {
    const storage = table.open({ maxBytes });
    // Not in the order in which they are written: use extends the expiry.
    const order = [7, 3, 11, 1, 9, 5, 0, 10, 2, 8, 4, 6];
    for (const age of order) await storage.put(aRecord(age, START + 100 + age));
    await storage.extend('resource#0', { after: START, upTo: START + 100, expiresAt: START + 500 });
    for (let index = 0; index < 10; index++) await storage.put(aRecord(`new-${index}`, START + 1000 + index));
    const kept = await Promise.all(order.map(async (age) => [age, await storage.get(`resource#${age}`)] as const));
    const ages = kept.filter(([, item]) => item).map(([age]) => age);
    expect(ages).toContain(0);
    const evicted = order.filter((age) => !ages.includes(age));
    expect(evicted.length).toBeGreaterThan(0);
    // Whatever was kept expires later than whatever was evicted.
    expect(Math.max(...evicted)).toBeLessThan(Math.min(...ages.filter((age) => age !== 0), Number.POSITIVE_INFINITY));
    for (let index = 0; index < 10; index++) expect(await storage.get(`resource#new-${index}`)).toBeDefined();
  });

  it('bounds the files, and keeps leases, the count and the tools record', async () => {
    const storage = table.open({ maxBytes });
    const state = createState({ storage, now: () => START * 1000 });
    const tools = { ytDlp: '1', ffmpeg: '1', verifiedBy: { ytDlp: 'signature', ffmpeg: 'system' }, installedAt: 1 };
    await state.putTools(tools);
    await state.addRequest();
    await state.takeMaintenance({ activity: 'Updating', owner: 'one', expiresAt: START + 1 });
    await state.rotateOriginSecret('one', 'secret');
    for (let index = 0; index < 100; index++) await storage.put(aRecord(index, START + 1000 + index));
    expect(await createState({ storage }).getTools()).toEqual(tools);
    expect(await state.countRequests()).toBe(1);
    expect(await state.getMaintenance()).toMatchObject({ owner: 'one' });
    expect(await state.rotateOriginSecret('one', 'other')).toEqual({ current: 'secret' });
    storage.close();
    expect(await sizeOf(file())).toBeLessThanOrEqual(maxBytes + MIB / 8);
  });

  it('applies to a table that was written with a larger one', async () => {
    const large = table.open();
    for (let index = 0; index < 60; index++) await large.put(aRecord(index, START + 100 + index));
    large.close();
    const small = table.open({ maxBytes });
    await small.purge();
    expect(await small.get('resource#0')).toBeUndefined();
    expect(await small.get('resource#59')).toBeDefined();
    small.close();
    expect(await sizeOf(file())).toBeLessThanOrEqual(maxBytes * 1.5);
  });
});
