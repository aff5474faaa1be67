import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { withLock } from '../../packages/yt-dlp-worker/src/install/version-store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = await temporaryFolder();
const options = { signal: new AbortController().signal, pollIntervalMs: 5 };
const module = fileURLToPath(new URL('../../packages/yt-dlp-worker/src/install/version-store.ts', import.meta.url));

describe('withLock', () => {
  it('runs the work of one holder at a time', async () => {
    const file = join(root, 'many', 'lock');
    let inside = 0;
    const work = async () => {
      const seen = ++inside;
      await new Promise(setImmediate);
      inside--;
      return seen;
    };
    const seen = await Promise.all(Array.from({ length: 8 }, () => withLock(file, work, options)));
    expect(seen).toEqual(Array(8).fill(1));
  });

  it('returns the result of the work, and is released when the work fails', async () => {
    const file = join(root, 'fails');
    await expect(withLock(file, () => Promise.reject(new Error('no')), options)).rejects.toThrow('no');
    expect(await withLock(file, async () => 7, options)).toBe(7);
  });

  it('calls onWait once, and stops waiting when the signal aborts', async () => {
    const file = join(root, 'waits');
    const controller = new AbortController();
    let waits = 0;
    await withLock(
      file,
      async () => {
        const onWait = () => {
          waits += 1;
          setImmediate(() => controller.abort());
        };
        const second = withLock(file, async () => 2, { ...options, signal: controller.signal, onWait });
        await expect(second).rejects.toThrow('abort');
      },
      options,
    );
    expect(waits).toBe(1);
    expect(await withLock(file, async () => 3, options)).toBe(3);
  });

  it('is held by another process until it is killed', async () => {
    const file = join(root, 'killed');
    const work = `console.log('in'); return new Promise((resolve) => setTimeout(resolve, 60_000));`;
    const script = `import { withLock } from ${JSON.stringify(module)};
      await withLock(${JSON.stringify(file)}, async () => { ${work} }, { signal: new AbortController().signal });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    const onWait = () => void child.kill('SIGKILL');
    expect(await withLock(file, async () => 'done', { ...options, onWait })).toBe('done');
    expect(child.killed).toBe(true);
  });
});
