import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeStaleWorkerDirectories } from '../../packages/yt-dlp-worker/src/worker/worker-directory.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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
  await make(`reelay-worker-${process.pid}-old`, 25);
  await make(`other-${child.pid}-old`, 25);
  await removeStaleWorkerDirectories(dir);
  expect((await readdir(dir)).sort()).toEqual(
    [`other-${child.pid}-old`, `reelay-worker-${process.pid}-old`, `reelay-worker-${child.pid}-new`].sort(),
  );
});
