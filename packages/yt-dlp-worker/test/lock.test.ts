import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { withLock } from '../src/install/version-store.ts';

// That one of several holders works at a time is in `provider-events.ts`.
const root = await temporaryFolder();
const options = { signal: new AbortController().signal, pollIntervalMs: 5 };
const MODULE = new URL('../src/install/version-store.ts', import.meta.url).href;

it('a lock is released when the work fails', async () => {
  const file = join(root, 'fails');
  await expect(withLock(file, () => Promise.reject(new Error('no')), options)).rejects.toThrow('no');
  expect(await withLock(file, async () => 7, options)).toBe(7);
});

it('a holder that waits is told once, and stops when its signal aborts', async () => {
  const file = join(root, 'waits');
  const controller = new AbortController();
  let waits = 0;
  const onWait = () => {
    waits += 1;
    setImmediate(() => controller.abort());
  };
  const second = () => withLock(file, async () => 2, { ...options, signal: controller.signal, onWait });
  await withLock(file, () => expect(second()).rejects.toThrow('abort'), options);
  expect(waits).toBe(1);
});

it('a lock is held by another process until it is killed', async () => {
  const file = join(root, 'killed');
  const script = `import { withLock } from ${JSON.stringify(MODULE)};
    const work = () => { console.log('in'); return new Promise((resolve) => setTimeout(resolve, 60_000)); };
    await withLock(${JSON.stringify(file)}, work, { signal: new AbortController().signal });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  const onWait = () => void child.kill('SIGKILL');
  expect(await withLock(file, async () => 'done', { ...options, onWait })).toBe('done');
  expect(child.killed).toBe(true);
});
