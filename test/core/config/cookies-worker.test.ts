import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startWorker } from '../../../packages/yt-dlp-worker/src/worker/worker-process.ts';
import { installedTools } from '../../support/installed-tools.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ALL, CONTRADICTION } from './cookies-content.ts';

it('COOKIES_FILE accepts and rejects what yt-dlp does', async () => {
  const cookiesFile = join(await temporaryFolder(), 'cookies.txt');
  const { ytDlp } = await installedTools();
  const startWith = async (content: string) => {
    await writeFile(cookiesFile, content);
    await (await startWorker({ ytDlp, concurrency: 1, memoryBytes: 2 ** 29, cookiesFile })).close();
  };
  await startWith(ALL);
  await expect(startWith(CONTRADICTION)).rejects.toThrow('ended before it was ready');
});
