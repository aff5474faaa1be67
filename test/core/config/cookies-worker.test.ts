import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startWorker } from '../../../core/tools/worker/worker-process.ts';
import { installedTools } from '../../support/installed-tools.ts';
import { ALL, CONTRADICTION } from './cookies-content.ts';

it('COOKIES_FILE accepts and rejects what yt-dlp does', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-cookies-test-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const cookiesFile = join(dir, 'cookies.txt');
  const { ytDlp } = await installedTools();
  const startWith = async (content: string) => {
    await writeFile(cookiesFile, content);
    await (await startWorker({ ytDlp, concurrency: 1, memoryBytes: 2 ** 29, cookiesFile })).close();
  };
  await startWith(ALL);
  await expect(startWith(CONTRADICTION)).rejects.toThrow('ended before it was ready');
});
