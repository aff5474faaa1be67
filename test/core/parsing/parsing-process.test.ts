import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ParsingLimitExceeded } from '../../../core/errors/index.ts';
import { createParsingProcess, type ParsingProcessOptions } from '../../../core/parsing/parsing-process.ts';
import { readResponse } from '../../../core/parsing/task.ts';
import { failStarts } from '../../faults/injection/failing-parts.ts';
import { changePriorities } from '../../support/priorities.ts';
import { descendants, descendantsOf, isRunning } from '../../support/processes.ts';

const PROGRAM = join(import.meta.dirname, 'program.ts');

const create = (options: ParsingProcessOptions = {}) => {
  const process = createParsingProcess({ program: PROGRAM, ...options });
  onTestFinished(process.close);
  return process;
};
const rows = async (parent = process.pid) =>
  (await descendantsOf(parent)).filter(({ command }) => command.includes(PROGRAM));
const count = async () => (await descendants('node')).filter((command) => command.includes(PROGRAM)).length;

let echoes = 0;
const expectEcho = async (parser: ReturnType<typeof create>, input: unknown = ++echoes) =>
  expect(await parser.run({ name: 'echo', input })).toEqual({ output: input });

describe('createParsingProcess', () => {
  it('keeps its process for the next task, and ends it when idle', async () => {
    const parser = create({ idleTimeoutMs: 1000 });
    for (let task = 0; task < 3; task++) {
      await expectEcho(parser);
      expect(await count()).toBe(1);
    }
    await expect.poll(count).toBe(0);
  });

  it('gives way to the process that serves streams', async () => {
    changePriorities();
    await expectEcho(create());
    const [parser] = await rows();
    expect(getPriority(parser?.pid)).toBe(Math.min(19, getPriority() + 10));
  });

  it('ends its process on close, and starts another for the next task', async () => {
    const parser = create();
    await expectEcho(parser);
    await parser.close();
    expect(await count()).toBe(0);
    await expectEcho(parser);
  });

  it('clones typed arrays, and buffers larger than a message, wherever they are', async () => {
    const pattern = (bytes: number, seed: number) =>
      Buffer.alloc(bytes).map((_, index) => (index * seed) % 251) as Buffer;
    const [first, second] = [pattern(2.5 * 1024 * 1024, 3), pattern(1024 * 1024 + 1, 5)];
    const parser = create();
    for (const input of [
      first,
      { bytes: Buffer.alloc(1e6, 7), offsets: Float64Array.of(1, 2 ** 50) },
      { absent: undefined, sources: [{ movie: first }, null, { movie: second }] },
    ])
      await expectEcho(parser, input);
  });

  it('returns bytes that keep no others in memory', async () => {
    const input = {
      bytes: Buffer.alloc(1e6),
      parts: [{ first: Buffer.from('small'), offsets: Float64Array.of(1, 2) }, null, 'text'],
    };
    const output = readResponse<unknown, typeof input>(await create().run({ name: 'echo', input }), { name: 'echo' });
    expect(output).toEqual(input);
    const { first, offsets } = output.parts[0] as { first: Buffer; offsets: Float64Array };
    expect([output.bytes, first, offsets].map(({ buffer }) => buffer.byteLength)).toEqual([1e6, 5, 16]);
  });

  it('returns the class and message of an error', async () => {
    const response = await create().run({ name: 'fail', input: 'Odd' });
    expect(response).toEqual({ error: { className: 'OddInput', message: 'Odd' } });
  });

  it.each([
    ['uses too much processor time', 'loop', 200],
    ['exhausts the memory', 'fill memory', 60_000],
    ['ends the process', 'exit', 60_000],
  ])('rejects a task that %s, and runs the next one', async (_, name, timeoutMs) => {
    const parser = create({ timeoutMs });
    await expect(parser.run({ name, input: 0 })).rejects.toThrow(ParsingLimitExceeded);
    await expectEcho(parser);
  });

  it('rejects a task that gets no processor time as timed out, and runs the next one', async () => {
    const parser = create({ timeoutMs: 200 });
    await expectEcho(parser);
    await expect(parser.run({ name: 'wait', input: 0 })).rejects.toThrow(
      process.platform === 'linux' ? 'Parsing took too long' : ParsingLimitExceeded,
    );
    await expectEcho(parser);
  });

  it.runIf(process.platform === 'linux').each(['SIGKILL', 'SIGSTOP'] as const)(
    'repeats a task whose process receives %s from outside',
    async (signal) => {
      const parser = create({ timeoutMs: 10_000 });
      await expectEcho(parser);
      const [before] = await rows();
      const waiting = parser.run({ name: 'wait', input: 0 });
      waiting.catch(() => undefined);
      process.kill(before?.pid ?? expect.fail('It does not run'), signal);
      await expect.poll(async () => (await rows()).map(({ pid }) => pid)).not.toContain(before?.pid);
      await expect.poll(count).toBe(1);
      await parser.close();
      await expect(waiting).rejects.toThrow();
    },
  );

  it('continues after Ctrl-C in a terminal, which only ends the service', async () => {
    const parser = create();
    await expectEcho(parser);
    const [before] = await rows();
    process.kill(before?.pid ?? expect.fail('It does not run'), 'SIGINT');
    await expectEcho(parser);
    expect(await rows()).toEqual([before]);
  });

  it('rejects when its program does not start', async () => {
    await expect(create({ program: '/nowhere.mjs' }).run({ name: 'echo', input: 1 })).rejects.toThrow(
      'failed to start',
    );
  });

  it('runs a task after starts that failed', async () => {
    let isFailing = true;
    failStarts({ effect: () => isFailing });
    const parser = create();
    // At least once in each of the three ways in which a start fails.
    for (let round = 0; round < 3; round++) {
      isFailing = true;
      await expect(parser.run({ name: 'echo', input: 0 })).rejects.toThrow();
      isFailing = false;
      await expectEcho(parser);
      await parser.close();
    }
  });

  it('runs with an empty environment', async () => {
    const response = await create().run({ name: 'environment', input: 0 });
    const allowed = ['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'NODE_COMPILE_CACHE'];
    expect('output' in response && (response.output as string[]).filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it.each([
    ['read file', '/etc/passwd'],
    ['read file', join(import.meta.dirname, '../../../README.md')],
    ['write file', join(tmpdir(), 'reelay-parsed')],
    ['start process', ''],
    ['start thread', ''],
  ])('may not %s %s', async (name, input) => {
    expect(await create().run({ name, input })).toEqual({
      error: { className: 'Error', message: expect.stringContaining('Access to this API has been restricted') },
    });
  });

  it.runIf(existsSync('/usr/bin/setpriv'))(
    'leaves no process when its parent is killed, in an endless loop either',
    async () => {
      const parent = spawn(process.execPath, [join(import.meta.dirname, 'endless-parent.ts')], { stdio: 'ignore' });
      const children = () => rows(parent.pid);
      await expect.poll(children).toHaveLength(1);
      const [child] = await children();
      parent.kill('SIGKILL');
      await expect.poll(() => isRunning(child?.pid ?? 0)).toBe(false);
    },
  );
});
