import { describe, expect, it } from 'vitest';
import { createParsingPool } from '../../../core/parsing/parsing-pool.ts';
import type { ParsingTask, TaskRequest, TaskResponse } from '../../../core/parsing/task.ts';

class OddInput extends Error {}

const BIG = 'x'.repeat(64 * 1024 + 1);
const ECHO: ParsingTask<string, string> = {
  name: 'echo',
  run: (text) => {
    if (text === '') throw new OddInput('Empty');
    return text.slice(0, 5);
  },
  errors: [OddInput],
};

/** A pool whose processes answer when the test says so; `running` has the number of the process of each open task. */
function createFixture() {
  const running: { readonly process: number; answer(response?: TaskResponse): void }[] = [];
  const requests: TaskRequest[] = [];
  let created = 0;
  const pool = createParsingPool({
    createProcess: () => {
      const process = created++;
      return {
        run: (request) =>
          new Promise<TaskResponse>((resolve) => {
            requests.push(request);
            const one = {
              process,
              answer: (response: TaskResponse = { output: null }) => {
                running.splice(running.indexOf(one), 1);
                resolve(response);
              },
            };
            running.push(one);
          }),
        close: async () => undefined,
      };
    },
  });
  const parse = (client: string, signal?: AbortSignal) => pool.parse(ECHO, BIG, { client, signal });
  return { pool, parse, running, requests };
}

describe('createParsingPool', () => {
  it('parses a small input in this process, and a large one in another', async () => {
    const { pool, parse, running, requests } = createFixture();
    expect(await pool.parse(ECHO, 'short text')).toBe('short');
    expect(running).toEqual([]);
    const large = parse('a');
    await expect.poll(() => requests).toEqual([{ name: 'echo', input: BIG }]);
    running[0]?.answer({ output: 'large' });
    expect(await large).toBe('large');
  });

  it.each([
    ['a task without a function for this process', { name: 'elsewhere' }],
    ['a task that weighs its input', { ...ECHO, weigh: () => 1e6 }],
  ])('parses a small input of %s in another process', async (_, task: ParsingTask<string, string>) => {
    const { pool, running } = createFixture();
    const parsed = pool.parse(task, 'tiny');
    await expect.poll(() => running).toHaveLength(1);
    running[0]?.answer({ output: 'there' });
    expect(await parsed).toBe('there');
  });

  it('throws the errors of a task as instances of their classes, wherever it ran', async () => {
    const { pool, parse, running } = createFixture();
    await expect(pool.parse(ECHO, '')).rejects.toThrow(OddInput);
    for (const [className, ErrorClass] of [
      ['OddInput', OddInput],
      ['Other', Error],
    ] as const) {
      const large = parse('a');
      await expect.poll(() => running).toHaveLength(1);
      running[0]?.answer({ error: { className, message: 'Odd' } });
      const error = await large.catch((reason) => reason);
      expect([error.constructor, error.message]).toEqual([ErrorClass, 'Odd']);
    }
  });

  it('runs one task of a client at a time, in one process', async () => {
    const { parse, running } = createFixture();
    const tasks = [parse('a'), parse('a'), parse('a')];
    for (const task of tasks) {
      await expect.poll(() => running.map(({ process }) => process)).toEqual([0]);
      running[0]?.answer();
      await task;
    }
  });

  it('runs the task of another client at once, however many the first one has', async () => {
    const { parse, running } = createFixture();
    const tasks = Array.from({ length: 100 }, () => parse('a'));
    const other = parse('b');
    await expect.poll(() => running.map(({ process }) => process)).toEqual([0, 1]);
    running[1]?.answer({ output: 'b' });
    expect(await other).toBe('b');
    for (const task of tasks) {
      await expect.poll(() => running.length).toBe(1);
      running[0]?.answer();
      await task;
    }
  });

  it('takes turns between clients', async () => {
    const { parse, running } = createFixture();
    const order: string[] = [];
    const tasks = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b', 'c'].map(async (client) => {
      await parse(client);
      order.push(client);
    });
    while (order.length < tasks.length) {
      running[0]?.answer();
      await new Promise(setImmediate);
    }
    await Promise.all(tasks);
    // After the tasks that run, and one of each client that waits longer.
    expect(order.indexOf('c')).toBeLessThanOrEqual(4);
  });

  it('rejects when the signal is aborted before, in the queue or while a task runs, whose process stays occupied', async () => {
    const { parse, running, requests } = createFixture();
    await expect(parse('a', AbortSignal.abort(new Error('Before')))).rejects.toThrow('Before');
    const [leaving, waiting] = [new AbortController(), new AbortController()];
    const first = parse('a', leaving.signal);
    const queued = parse('a', waiting.signal);
    const next = parse('a');
    await expect.poll(() => running).toHaveLength(1);
    waiting.abort(new Error('In the queue'));
    await expect(queued).rejects.toThrow('In the queue');
    leaving.abort(new Error('Running'));
    await expect(first).rejects.toThrow('Running');
    expect(requests).toHaveLength(1);
    running[0]?.answer();
    await expect.poll(() => requests).toHaveLength(2);
    running[0]?.answer({ output: 'next' });
    expect(await next).toBe('next');
  });
});
