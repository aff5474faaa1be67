import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createState } from '../../core/state/create-state.ts';
import { createTableClient, ensureTable } from '../../core/state/table.ts';
import { startEmbeddedTable } from '../../local/embedded-table.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'reelay-table-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Runs once with the table of the folder, as one start of the service does. */
async function start<T>(use: (state: ReturnType<typeof createState>) => Promise<T>): Promise<T> {
  const embedded = await startEmbeddedTable({ dir: join(dir, 'table') });
  const client = createTableClient({ endpoint: embedded.endpoint });
  await ensureTable(client, 'reelay');
  try {
    return await use(createState({ client, tableName: 'reelay' }));
  } finally {
    client.destroy();
    await embedded.close();
  }
}

describe('startEmbeddedTable', () => {
  it('persists across a restart', async () => {
    await start(async (state) => {
      await state.addRequest();
      await state.addRequest();
    });
    await start((state) => state.addRequest());
    expect(await start((state) => state.countRequests())).toBe(3);
  });

  it('reports a folder in use in one line', async () => {
    const first = await startEmbeddedTable({ dir });
    await expect(startEmbeddedTable({ dir })).rejects.toThrow(/^Another process uses the data folder [^\n]+$/);
    await first.close();
  });

  it('locks the folder for one of many concurrent starts', async () => {
    const starts = await Promise.allSettled(Array.from({ length: 4 }, () => startEmbeddedTable({ dir })));
    const started = starts.filter((start) => start.status === 'fulfilled');
    expect(started).toHaveLength(1);
    for (const { value } of started) await value.close();
  });

  it('reports a corrupt store in one line', async () => {
    await start((state) => state.addRequest());
    await writeFile(join(dir, 'table', 'items', 'CURRENT'), 'nonsense');
    const restarted = startEmbeddedTable({ dir: join(dir, 'table') });
    await expect(restarted).rejects.toThrow(/^The data folder [^\n]+ cannot be used: [^\n]+$/);
  });

  it.each(['', '/below'])('reports a file in place of the folder in one line (%s)', async (below) => {
    const file = join(dir, 'file');
    await writeFile(file, '');
    const started = startEmbeddedTable({ dir: file + below });
    await expect(started).rejects.toThrow(/^The data folder [^\n]+ cannot be used: [^\n]+$/);
  });

  it('creates missing parent folders', async () => {
    const deep = join(dir, 'one', 'two', 'three');
    await (await startEmbeddedTable({ dir: deep })).close();
    await (await startEmbeddedTable({ dir: deep })).close();
  });

  it.runIf(existsSync('/proc/self'))('says in one line that no folder can be made there', () =>
    expect(startEmbeddedTable({ dir: '/proc/reelay/table' })).rejects.toThrow(
      /^The data folder \/proc\/reelay\/table cannot be used: [^\n]+$/,
    ),
  );
});
