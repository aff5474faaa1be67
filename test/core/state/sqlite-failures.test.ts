import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { StateUnavailable, StorageFull } from '../../../core/errors/errors.ts';
import { createState } from '../../../core/state/create-state.ts';
import { classifySqliteError } from '../../../core/state/sqlite/sqlite-error.ts';
import { openSqliteStorage, type SqliteStorage } from '../../../core/state/sqlite/sqlite-storage.ts';
import { aResource } from './resources.ts';

const START = 1_800_000_000;
const MIB = 1024 * 1024;

let dir: string;
let logged: string[];
const opened: SqliteStorage[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'reelay-sqlite-'));
  logged = [];
});
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  await rm(dir, { recursive: true, force: true });
});

/** A table that is closed after the test, and whose log lines are kept. */
function open(options: Partial<Parameters<typeof openSqliteStorage>[0]> = {}): SqliteStorage {
  const note = (message: string) => void logged.push(message);
  const log = { info: note, warn: note, error: note };
  const storage = openSqliteStorage({ dir, now: () => START * 1000, log, ...options });
  opened.push(storage);
  return storage;
}

const record = (name: number | string, bytes = 50_000) => ({
  pk: `resource#${name}`,
  expiresAt: START + 1000,
  v: 1,
  data: new Uint8Array(bytes).fill(7),
});

/** Stores records until one is refused. @returns how many were stored */
async function fill(storage: SqliteStorage): Promise<number> {
  for (let count = 0; ; count++) {
    const isStored = await storage.put(record(count)).then(
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
  it('has every record and request that was answered', async () => {
    const answered = new Set<number>();
    const ROUNDS = 12;
    for (let round = 0; round < ROUNDS; round++) {
      const program = join(import.meta.dirname, 'write-until-killed.ts');
      const child = spawn(process.execPath, [program, dir, String(round * 100_000)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      child.stdout.on('data', (chunk) => {
        output += chunk;
        // Different points of the log, some beyond a checkpoint.
        if (output.split('\n').length > 3 + round * 40) child.kill('SIGKILL');
      });
      await once(child, 'close');
      // A last line without its break was not answered completely, but stored.
      for (const line of output.split('\n').slice(0, -1)) answered.add(Number(line));

      const storage = openSqliteStorage({ dir });
      const count = await storage.countRequests();
      expect(count).toBeGreaterThanOrEqual(answered.size);
      expect(count).toBeLessThanOrEqual(answered.size + round + 1);
      for (const index of answered) {
        const item = await storage.get(`resource#${index}`);
        expect([index, item?.data?.byteLength, item?.data?.[19_999]]).toEqual([index, 20_000, index % 256]);
      }
      await storage.close();
    }
    expect(answered.size).toBeGreaterThan(ROUNDS * 3);
  });
});

describe('while another process uses the folder', () => {
  it('is reported in one line, until that process is killed', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'write-until-killed.ts'), dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout.resume(), 'data');
    expect(() => openSqliteStorage({ dir })).toThrow(/^Another process uses the data folder [^\n]+$/);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(await open().countRequests()).toBeGreaterThan(0);
  });
});

describe('when the page limit is reached', () => {
  it('rejects writes with StorageFull and keeps everything readable', async () => {
    const storage = open({ maxBytes: MIB });
    await storage.addRequest();
    await storage.put(record('known'));
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
    expect(logged).toEqual(['State database failed']);
  });
});

describe('below the reserved disk space', () => {
  it('refuses records once and for all until there is space, and keeps counts, leases and reads', async () => {
    let isFull = false;
    const storage = open({ isDiskNearlyFull: () => isFull });
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
    expect(logged).toEqual(['State database failed']);
    isFull = false;
    await state.requireSpace();
    await state.putResource(resource);
    expect(logged).toEqual(['State database failed', 'State database recovered']);
  });
});

/** Mounting needs root and Linux. Elsewhere these tests are reported as skipped. */
const canMount =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0;

describe.skipIf(!canMount)('on a full file system (needs root)', () => {
  let mounted: string;
  beforeEach(async () => {
    mounted = join(dir, 'mounted');
    await mkdir(mounted);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', mounted]);
  });
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
    execFileSync('umount', ['-l', mounted]);
  });

  it('rejects records with StorageFull at the reserve, and counts in it', async () => {
    const storage = open({ dir: mounted });
    const stored = await fill(storage);
    expect(stored).toBeGreaterThan(0);
    // What is left above the reserve is too little for another record, not for none.
    await writeFile(join(mounted, 'ballast'), Buffer.alloc(64 * 1024));
    await expect(storage.requireSpace()).rejects.toThrow(StorageFull);
    for (let index = 0; index < 20; index++) await storage.addRequest();
    await storage.close();
    const again = open({ dir: mounted });
    expect(await again.countRequests()).toBe(20);
    await expectRecords(again, stored);
  });

  it('loses nothing that was answered when writes fail with ENOSPC, and continues once there is space', async () => {
    const ballast = join(mounted, 'ballast');
    await writeFile(ballast, Buffer.alloc(6 * MIB));
    const storage = open({ dir: mounted, isDiskNearlyFull: () => false });
    const stored = await fill(storage);
    expect(stored).toBeGreaterThan(0);
    let counted = 0;
    for (let index = 0; index < 20; index++)
      await storage.addRequest().then(
        () => (counted += 1),
        (error) => expect(error).toBeInstanceOf(StorageFull),
      );
    await expectRecords(storage, stored);
    await storage.close();

    const full = open({ dir: mounted, isDiskNearlyFull: () => false });
    expect(await full.countRequests()).toBe(counted);
    await expectRecords(full, stored);
    await rm(ballast);
    await full.put(record('later'));
    await full.addRequest();
    expect(await full.countRequests()).toBe(counted + 1);
  });
});

describe('on a slow disk', () => {
  /** A disk that answers when the test says so. */
  function slowDisk() {
    const syncs: { readonly finish: () => void; readonly fail: (error: Error) => void }[] = [];
    const sync = () => new Promise<void>((finish, fail) => void syncs.push({ finish, fail }));
    return { sync, syncs };
  }
  /** More than is written between two checkpoints, and less than twice as much. */
  const RECORDS = 35;
  const writeMuch = async (storage: SqliteStorage) => {
    for (let index = 0; index < RECORDS; index++) await storage.put(record(index));
  };
  const STEPS = 4;

  it('reads while a checkpoint waits, and keeps the order of what SQLite needs', async () => {
    const { sync, syncs } = slowDisk();
    const storage = open({ sync });
    await writeMuch(storage);
    // Until the first sync is done, writes continue.
    await storage.put(record('early'));
    await expect.poll(() => syncs.length).toBe(1);
    syncs[0]?.finish();
    await expect.poll(() => syncs.length).toBe(2);
    let isWritten = false;
    const writing = storage.put(record('late')).then(() => {
      isWritten = true;
    });
    await expectRecords(storage, RECORDS);
    expect(isWritten).toBe(false);
    expect(await storage.get('resource#early')).toBeDefined();
    for (let step = 1; step < STEPS; step++) {
      await expect.poll(() => syncs.length).toBe(step + 1);
      expect(isWritten).toBe(false);
      syncs[step]?.finish();
    }
    await writing;
    expect(await storage.get('resource#late')).toBeDefined();
  });

  it('writes what waited before it closes', async () => {
    const { sync, syncs } = slowDisk();
    const storage = open({ sync });
    await writeMuch(storage);
    await expect.poll(() => syncs.length).toBe(1);
    syncs[0]?.finish();
    await expect.poll(() => syncs.length).toBe(2);
    const writing = [storage.put(record('late')), storage.addRequest()];
    const closing = storage.close();
    for (let step = 1; step < STEPS; step++) {
      await expect.poll(() => syncs.length).toBe(step + 1);
      syncs[step]?.finish();
    }
    await Promise.all([...writing, closing]);
    const again = open();
    expect(await again.get('resource#late')).toBeDefined();
    expect(await again.countRequests()).toBe(1);
  });

  it('continues after a disk error', async () => {
    const { sync, syncs } = slowDisk();
    const storage = open({ sync });
    await writeMuch(storage);
    await expect.poll(() => syncs.length).toBe(1);
    syncs[0]?.finish();
    await expect.poll(() => syncs.length).toBe(2);
    const writing = storage.put(record('late'));
    syncs[1]?.fail(Object.assign(new Error('EIO'), { code: 'EIO' }));
    await writing;
    await expectRecords(storage, RECORDS);
    expect(logged).toEqual(['State database failed', 'State database recovered']);
  });
});

describe('with a damaged file', () => {
  const fileOf = () => join(dir, 'state.db');
  const overwrite = (position: number) => {
    const file = openSync(fileOf(), 'r+');
    writeSync(file, Buffer.alloc(8192, 'nonsense'), 0, 8192, position);
    closeSync(file);
  };

  it.each([
    ['no database', () => writeFile(fileOf(), 'nonsense'.repeat(1000))],
    ['overwritten at its start', async () => overwrite(0)],
    ['cut off', () => truncate(fileOf(), 8192)],
  ])('that is %s starts with an empty table and keeps the file', async (_what, damage) => {
    const first = openSqliteStorage({ dir });
    for (let index = 0; index < 10; index++) await first.put(record(index));
    await first.close();
    await damage();
    const storage = open();
    // Damage beyond the header is found by the first operation that reads it.
    await storage.put(record('new')).catch(() => undefined);
    await storage.put(record('new'));
    expect(await storage.get('resource#new')).toBeDefined();
    expect(await storage.get('resource#1')).toBeUndefined();
    expect(await readdir(dir)).toContain('state.db.corrupt');
    expect(logged.filter((line) => /damaged/.test(line))).toHaveLength(1);
  });

  it('found while it runs rejects with StateUnavailable at most, then continues', async () => {
    const first = openSqliteStorage({ dir });
    for (let index = 0; index < 100; index++) await first.put(record(index));
    await first.close();
    const state = createState({ storage: open(), now: () => START * 1000 });
    const { size } = await stat(fileOf());
    for (let position = 8192; position < size; position += 8192) overwrite(position);
    for (let index = 0; index < 100; index++)
      await state.getResource(String(index)).catch((error) => expect(error).toBeInstanceOf(StateUnavailable));
    const resource = aResource(START);
    await state.putResource(resource).catch((error) => expect(error).toBeInstanceOf(StateUnavailable));
    await state.putResource(resource);
    expect(await state.getResource(resource.id)).toEqual(resource);
    expect(logged.filter((line) => line === 'State database failed').length).toBeLessThanOrEqual(1);
  });
});

describe('with a deleted or replaced file', () => {
  const REPLACED = 'State database was deleted or replaced: continuing with what is there';

  it.each([
    ['the database', () => rm(join(dir, 'state.db'))],
    ['the folder', () => rm(dir, { recursive: true })],
  ])('continues with an empty table when it was %s', async (_what, remove) => {
    const storage = open();
    await storage.put(record('lost'));
    await remove();
    await storage.requireSpace();
    await storage.put(record('new'));
    expect(await storage.get('resource#lost')).toBeUndefined();
    await storage.close();
    expect(await open().get('resource#new')).toBeDefined();
    expect(logged).toEqual([REPLACED]);
  });

  it('continues with another table that takes its place, and with nothing of the former one', async () => {
    const others = openSqliteStorage({ dir: join(dir, 'others') });
    await others.put(record('other'));
    await others.close();
    const storage = open();
    await storage.put(record('lost'));
    await rename(join(dir, 'others', 'state.db'), join(dir, 'state.db'));
    await storage.requireSpace();
    expect(await storage.get('resource#lost')).toBeUndefined();
    expect(await storage.get('resource#other')).toBeDefined();
    expect(logged).toEqual([REPLACED]);
  });

  it('rejects while it cannot be created again, and continues once it can', async () => {
    const storage = open();
    await rm(dir, { recursive: true });
    await writeFile(dir, 'a file in its place');
    for (let attempt = 0; attempt < 5; attempt++) await expect(storage.put(record('new'))).rejects.toThrow();
    expect(logged.filter((line) => line === 'State database failed')).toHaveLength(1);
    await rm(dir);
    const put = () =>
      storage.put(record('new')).then(
        () => true,
        () => false,
      );
    await expect.poll(put, { timeout: 30_000 }).toBe(true);
    expect(await storage.get('resource#new')).toBeDefined();
    expect(logged).toContain('State database recovered');
  });
});

describe('classifySqliteError', () => {
  it.each([
    [{ errcode: 5 }, 'locked'],
    [{ errcode: 13 }, 'full'],
    [{ errcode: 11 }, 'corrupt'],
    [{ errcode: 11 | (1 << 8) }, 'corrupt'],
    [{ errcode: 26 }, 'corrupt'],
    [{ errcode: 10 | (3 << 8) }, 'broken'],
    [{ errcode: 14 }, 'broken'],
    [{ errcode: 8 | (4 << 8) }, 'broken'],
    [{ errcode: 19 }, 'other'],
    [{ code: 'ENOSPC' }, 'full'],
    [{ code: 'EDQUOT' }, 'full'],
    [{ code: 'EIO' }, 'broken'],
    [{ code: 'ERR_INVALID_STATE' }, 'other'],
    [new Error('closed'), 'other'],
  ])('%j is %s', (error, expected) => expect(classifySqliteError(error)).toBe(expected));
});
