import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lutimes, mkdir, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { removeStaleWorkerDirectories } from '../src/worker/worker-directory.ts';

it('removes only old worker folders without a running process', async () => {
  const dir = await temporaryFolder();
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  const make = async (name: string, hoursOld: number) => {
    await mkdir(join(dir, name));
    await writeFile(join(dir, name, 'cached'), '');
    const time = Date.now() / 1000 - hoursOld * 3600;
    await utimes(join(dir, name), time, time);
  };
  await make(`reelay-worker-${child.pid}-old`, 25);
  await make(`reelay-worker-${child.pid}-new`, 1);
  // A path longer than the system takes, a name that is no text, and a folder without rights.
  const nested = join(dir, `reelay-worker-${child.pid}-nested`);
  await make(`reelay-worker-${child.pid}-nested`, 25);
  for (const _ of Array(30)) {
    await mkdir(join(dir, 'above'));
    await rename(nested, join(dir, 'above', 'n'.repeat(200)));
    await rename(join(dir, 'above'), nested);
  }
  await writeFile(Buffer.concat([Buffer.from(`${nested}/`), Buffer.of(0xff)]), '');
  await mkdir(join(nested, 'closed'), 0o000);
  await utimes(nested, 0, 0);
  await symlink(`other-${child.pid}-old`, join(dir, `reelay-worker-${child.pid}-link`));
  await lutimes(join(dir, `reelay-worker-${child.pid}-link`), 0, 0);
  await make(`reelay-worker-${process.pid}-old`, 25);
  await make(`other-${child.pid}-old`, 25);
  await removeStaleWorkerDirectories(dir);
  expect((await readdir(dir)).sort()).toEqual(
    [
      `other-${child.pid}-old`,
      ...[`${process.pid}-old`, `${child.pid}-new`, `${child.pid}-link`].map((name) => `reelay-worker-${name}`),
    ].sort(),
  );
  expect(await readdir(join(dir, `other-${child.pid}-old`))).toEqual(['cached']);
});
