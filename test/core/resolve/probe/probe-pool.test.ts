import { describe, expect, it } from 'vitest';
import type { ContainerRequest, ContainerResponse } from '../../../../core/resolve/probe/container-reader.ts';
import { createProbePool } from '../../../../core/resolve/probe/probe-process.ts';

const REQUEST: ContainerRequest = { size: 0, blocks: [], wantsDuration: true, isLast: true };
const { signal } = new AbortController();

/** A pool whose processes answer when the test says so; `reading` has the number of the process of each open read. */
function createFixture() {
  const reading: { readonly process: number; answer(): void }[] = [];
  let created = 0;
  const pool = createProbePool(() => {
    const process = created++;
    return {
      read: () =>
        new Promise<ContainerResponse>((resolve) => {
          const one = {
            process,
            answer: () => {
              reading.splice(reading.indexOf(one), 1);
              resolve({ contents: null });
            },
          };
          reading.push(one);
        }),
      close: async () => undefined,
    };
  });
  const read = (client: string, until = signal) => pool.read(REQUEST, client, until);
  return { read, reading };
}

describe('createProbePool', () => {
  it('reads one file of a client at a time, in one process', async () => {
    const { read, reading } = createFixture();
    const files = [read('a'), read('a'), read('a')];
    for (const file of files) {
      await expect.poll(() => reading.map(({ process }) => process)).toEqual([0]);
      reading[0]?.answer();
      await file;
    }
  });

  it('reads the file of another client at once, however many the first one has', async () => {
    const { read, reading } = createFixture();
    const files = Array.from({ length: 100 }, () => read('a'));
    const other = read('b');
    await expect.poll(() => reading.map(({ process }) => process)).toEqual([0, 1]);
    reading[1]?.answer();
    expect(await other).toEqual({ contents: null });
    for (const file of files) {
      await expect.poll(() => reading.length).toBe(1);
      reading[0]?.answer();
      await file;
    }
  });

  it('takes turns between clients', async () => {
    const { read, reading } = createFixture();
    const order: string[] = [];
    const files = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b', 'c'].map(async (client) => {
      await read(client);
      order.push(client);
    });
    while (order.length < files.length) {
      reading[0]?.answer();
      await new Promise(setImmediate);
    }
    await Promise.all(files);
    // After the files that are being read, and one of each client that waits longer.
    expect(order.indexOf('c')).toBeLessThanOrEqual(4);
  });

  it('reads nothing for an aborted signal, and rejects when the signal is aborted in the queue', async () => {
    const { read, reading } = createFixture();
    expect(await read('a', AbortSignal.abort())).toEqual({});
    const first = read('a');
    const leaving = new AbortController();
    const queued = read('a', leaving.signal);
    leaving.abort(new Error('Too late'));
    await expect(queued).rejects.toThrow('Too late');
    await expect.poll(() => reading.length).toBe(1);
    reading[0]?.answer();
    await first;
  });
});
