import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { StateUnavailable, StorageFull } from '../../../core/errors/index.ts';
import { createState } from '../../../core/state/create-state.ts';
import { classifyFailure, type SqliteStorage } from '../../../core/state/sqlite/sqlite-storage.ts';
import { aResource } from './resources.ts';
import { MIB, recordOf, START, useSqlite } from './sqlite-fixture.ts';

const table = useSqlite();

/** Stores records until one is refused. @returns how many were stored */
async function fill(storage: SqliteStorage): Promise<number> {
  for (let count = 0; ; count++) {
    const isStored = await storage.put(recordOf(count)).then(
      () => true,
      (error) => (error instanceof StorageFull ? false : Promise.reject(error)),
    );
    if (!isStored) return count;
  }
}

async function expectRecords(storage: SqliteStorage, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    expect((await storage.get(`resource#${index}`))?.data?.byteLength).toBe(50_000);
}

describe('after SIGKILL in the middle of writes', () => {
  it('has every record and request that was answered, and is locked until then', async () => {
    const answered = new Set<number>();
    // Answers until the process is killed: at different points of the log, some beyond a checkpoint.
    const ROUNDS = [3, 40, 150, 260];
    for (const [round, lines] of ROUNDS.entries()) {
      const program = join(import.meta.dirname, 'write-until-killed.ts');
      const child = spawn(process.execPath, [program, table.dir, String(round * 100_000)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      child.stdout.on('data', (chunk) => {
        if (output === '') expect(() => table.open()).toThrow(/^Another process uses the data folder [^\n]+$/);
        output += chunk;
        if (output.split('\n').length > lines) child.kill('SIGKILL');
      });
      await once(child, 'close');
      // A last line without its break was not answered completely, but stored.
      for (const line of output.split('\n').slice(0, -1)) answered.add(Number(line));

      const storage = table.open();
      const count = await storage.countRequests();
      expect(count).toBeGreaterThanOrEqual(answered.size);
      expect(count).toBeLessThanOrEqual(answered.size + round + 1);
      for (const index of answered) {
        const item = await storage.get(`resource#${index}`);
        expect([index, item?.data?.byteLength, item?.data?.[19_999]]).toEqual([index, 20_000, index % 256]);
      }
      storage.close();
    }
    expect(answered.size).toBeGreaterThan(Math.max(...ROUNDS));
  });
});

describe('when the page limit is reached', () => {
  it('rejects writes with StorageFull and keeps everything readable', async () => {
    const storage = table.open({ maxBytes: MIB });
    await storage.addRequest();
    await storage.put(recordOf('known'));
    const attributes = { text: 'x'.repeat(100_000) };
    const failures: unknown[] = [];
    // Items that are no records are never evicted to make room.
    for (let index = 0; index < 80; index++)
      await storage.put({ pk: `item#${index}`, ...attributes }).catch((error) => failures.push(error));
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toBeInstanceOf(StorageFull);
    expect(await storage.get('resource#known')).toBeDefined();
    expect(await storage.get('item#0')).toMatchObject(attributes);
    await storage.addRequest();
    expect(await storage.countRequests()).toBe(2);
    expect(table.logged).toEqual(['State database failed']);
  });
});

describe('below the reserved disk space', () => {
  it('refuses records once and for all until there is space, and keeps counts, leases and reads', async () => {
    let isFull = false;
    const storage = table.open({ isDiskNearlyFull: () => isFull });
    const state = createState({ storage, now: () => START * 1000 });
    const resource = aResource(START);
    await state.putResource(resource);
    isFull = true;
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(state.requireSpace()).rejects.toThrow(StorageFull);
      await expect(state.putResource(resource)).rejects.toThrow(StorageFull);
      await expect(state.touchResource({ ...resource, expiresAt: START + 1 })).rejects.toThrow(StorageFull);
    }
    expect(await state.getResource(resource.id)).toEqual(resource);
    await state.addRequest();
    expect(await state.countRequests()).toBe(1);
    expect(await state.takeMaintenance({ activity: 'Updating', owner: 'one', expiresAt: START + 1 })).toBe(true);
    expect(table.logged).toEqual(['State database failed']);
    isFull = false;
    await state.requireSpace();
    await state.putResource(resource);
    expect(table.logged).toEqual(['State database failed', 'State database recovered']);
  });
});

/** Mounting needs root and Linux. Elsewhere these tests are reported as skipped. */
const canMount =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;

describe.skipIf(!canMount)('on a full file system (needs root)', () => {
  let dir: string;
  beforeEach(async () => {
    dir = join(table.dir, 'mounted');
    await mkdir(dir);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', dir]);
  });
  afterEach(() => {
    table.closeAll();
    execFileSync('umount', ['-l', dir]);
  });

  it('rejects records with StorageFull at the reserve, and counts in it', async () => {
    const storage = table.open({ dir });
    const stored = await fill(storage);
    expect(stored).toBeGreaterThan(0);
    // What is left above the reserve is too little for another record, not for none.
    await writeFile(join(dir, 'ballast'), Buffer.alloc(64 * 1024));
    await expect(storage.requireSpace()).rejects.toThrow(StorageFull);
    for (let index = 0; index < 20; index++) await storage.addRequest();
    storage.close();
    const again = table.open({ dir });
    expect(await again.countRequests()).toBe(20);
    await expectRecords(again, stored);
  });

  it('loses nothing that was answered when writes fail with ENOSPC, and continues once there is space', async () => {
    const ballast = join(dir, 'ballast');
    await writeFile(ballast, Buffer.alloc(6 * MIB));
    const storage = table.open({ dir, isDiskNearlyFull: () => false });
    const stored = await fill(storage);
    expect(stored).toBeGreaterThan(0);
    let counted = 0;
    for (let index = 0; index < 20; index++)
      await storage.addRequest().then(
        () => (counted += 1),
        (error) => expect(error).toBeInstanceOf(StorageFull),
      );
    await expectRecords(storage, stored);
    storage.close();

    const full = table.open({ dir, isDiskNearlyFull: () => false });
    expect(await full.countRequests()).toBe(counted);
    await expectRecords(full, stored);
    await rm(ballast);
    await full.put(recordOf('later'));
    await full.addRequest();
    expect(await full.countRequests()).toBe(counted + 1);
  });
});

describe('with a damaged file', () => {
  const file = () => join(table.dir, 'state.db');
  const overwrite = (position: number) => {
    const descriptor = openSync(file(), 'r+');
    writeSync(descriptor, Buffer.alloc(8192, 'nonsense'), 0, 8192, position);
    closeSync(descriptor);
  };

  it.each([
    ['no database', () => writeFile(file(), 'nonsense'.repeat(1000))],
    ['overwritten at its start', async () => overwrite(0)],
    ['cut off', () => truncate(file(), 8192)],
  ])('that is %s starts with an empty table and keeps the file', async (_what, damage) => {
    const first = table.open();
    for (let index = 0; index < 10; index++) await first.put(recordOf(index));
    first.close();
    await damage();
    const storage = table.open();
    // Damage beyond the header is found by the first operation that reads it.
    await storage.put(recordOf('new')).catch(() => undefined);
    await storage.put(recordOf('new'));
    expect(await storage.get('resource#new')).toBeDefined();
    expect(await storage.get('resource#1')).toBeUndefined();
    expect(await readdir(table.dir)).toContain('state.db.corrupt');
    expect(table.logged.filter((line) => /damaged|failed/.test(line))).toHaveLength(1);
  });

  it('found while it runs rejects with StateUnavailable at most, then continues', async () => {
    const first = table.open();
    for (let index = 0; index < 100; index++) await first.put(recordOf(index));
    first.close();
    const state = createState({ storage: table.open(), now: () => START * 1000 });
    const { size } = await stat(file());
    for (let position = 8192; position < size; position += 8192) overwrite(position);
    for (let index = 0; index < 100; index++)
      await state.getResource(String(index)).catch((error) => expect(error).toBeInstanceOf(StateUnavailable));
    const resource = aResource(START);
    await state.putResource(resource).catch((error) => expect(error).toBeInstanceOf(StateUnavailable));
    await state.putResource(resource);
    expect(await state.getResource(resource.id)).toEqual(resource);
    expect(table.logged.filter((line) => line === 'State database failed').length).toBeLessThanOrEqual(1);
  });
});

describe('classifyFailure', () => {
  it.each([
    [{ errcode: 5 }, 'locked'],
    [{ errcode: 13 }, 'full'],
    [{ errcode: 11 | (1 << 8) }, 'corrupt'],
    [{ errcode: 26 }, 'corrupt'],
    [{ errcode: 10 | (3 << 8) }, 'other'],
    [{ code: 'ENOSPC' }, 'full'],
    [{ code: 'EDQUOT' }, 'full'],
    [new Error('closed'), 'other'],
  ])('%j is %s', (error, expected) => expect(classifyFailure(error)).toBe(expected));
});
