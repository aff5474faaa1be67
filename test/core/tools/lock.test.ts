import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { withLock } from '../../../core/tools/install/lock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const root = await temporaryFolder();
const never = new AbortController().signal;
const options = { signal: never, interval: 5 };
const module = fileURLToPath(new URL('../../../core/tools/install/lock.ts', import.meta.url));

describe('withLock', () => {
  it('runs the work of one holder at a time', async () => {
    const file = join(root, 'many', 'lock');
    let inside = 0;
    const seen: number[] = [];
    await Promise.all(
      Array.from({ length: 8 }, () =>
        withLock(
          file,
          async () => {
            seen.push(++inside);
            await new Promise(setImmediate);
            inside--;
          },
          options,
        ),
      ),
    );
    expect(seen).toEqual(Array(8).fill(1));
    expect(await readdir(join(root, 'many'))).toEqual([]);
  });

  it('returns the result of the work, and is released when the work fails', async () => {
    const file = join(root, 'fails');
    await expect(withLock(file, () => Promise.reject(new Error('no')), options)).rejects.toThrow('no');
    expect(await withLock(file, async () => 7, options)).toBe(7);
  });

  it('calls onWait once', async () => {
    const file = join(root, 'waits');
    const done = Promise.withResolvers<void>();
    const waits: string[] = [];
    const first = withLock(file, () => done.promise, options);
    await expect.poll(() => readFile(file, 'utf8')).not.toBe('');
    const onWait = () => {
      waits.push('waits');
      done.resolve();
    };
    await Promise.all([first, withLock(file, async () => undefined, { ...options, onWait })]);
    expect(waits).toEqual(['waits']);
  });

  it('stops waiting when the signal aborts', async () => {
    const file = join(root, 'stops');
    await writeFile(file, 'another holder');
    const controller = new AbortController();
    const onWait = () => controller.abort();
    await expect(
      withLock(file, async () => undefined, { ...options, signal: controller.signal, onWait }),
    ).rejects.toThrow();
    expect(await readFile(file, 'utf8')).toBe('another holder');
  });

  it('takes over from a holder without a heartbeat', async () => {
    const file = join(root, 'stale');
    await writeFile(file, 'the dead');
    await utimes(file, 1, 1);
    expect(await withLock(file, async () => 'done', options)).toBe('done');
  });

  it('takes over from a holder without a second heartbeat after one in the future', async () => {
    const file = join(root, 'future');
    await writeFile(file, JSON.stringify({ host: hostname(), pid: process.pid, id: 'before the restart' }));
    const inAnHour = Date.now() / 1000 + 3600;
    await utimes(file, inAnHour, inAnHour);
    const started = performance.now();
    expect(await withLock(file, async () => 'done', { ...options, staleAfterMs: 200 })).toBe('done');
    expect(performance.now() - started).toBeGreaterThan(190);
  });

  it('waits for a holder with heartbeats of a clock that is ahead', async () => {
    const file = join(root, 'ahead');
    await writeFile(file, 'alive');
    let beats = 0;
    const beat = setInterval(() => {
      const ahead = Date.now() / 1000 + 3600 + ++beats;
      void utimes(file, ahead, ahead);
    }, 50);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    setTimeout(() => {
      clearInterval(beat);
      void rm(file).then(end);
    }, 900);
    const started = performance.now();
    await withLock(file, async () => undefined, { ...options, staleAfterMs: 300 });
    expect(performance.now() - started).toBeGreaterThan(850);
    await ended;
  });

  it('takes over at once from a killed process of this machine', async () => {
    const file = join(root, 'killed');
    const work = `console.log('in'); return new Promise((resolve) => setTimeout(resolve, 60_000));`;
    const script = `import { withLock } from ${JSON.stringify(module)};
      await withLock(${JSON.stringify(file)}, async () => { ${work} }, { signal: new AbortController().signal });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await withLock(file, async () => 'done', options)).toBe('done');
  });

  it('is taken over from a killed holder by one of several waiters', async () => {
    const file = join(root, 'crowd');
    await writeFile(file, 'the dead');
    await utimes(file, 1, 1);
    let inside = 0;
    const work = async () => {
      const seen = ++inside;
      await new Promise(setImmediate);
      inside--;
      return seen;
    };
    const seen = await Promise.all(Array.from({ length: 6 }, () => withLock(file, work, options)));
    expect(seen).toEqual(Array(6).fill(1));
  });
});
