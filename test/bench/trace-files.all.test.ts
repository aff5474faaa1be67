import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { CEILINGS } from '../structure/ceilings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

const PROGRAM = join(import.meta.dirname, '../../bench/trace-files.ts');

it('a request crosses no more code than its ceiling', async () => {
  const toolsDir = await createToolsFolder(await temporaryFolder());
  const env = { ...process.env, TOOLS_DIR: toolsDir };
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, '--json'], { env });
  const found = JSON.parse(stdout) as Record<string, number>;
  expect(Object.keys(found)).toEqual(Object.keys(CEILINGS.codeOfRequest));
  for (const [operation, ceiling] of Object.entries(CEILINGS.codeOfRequest))
    expect(found[operation], `code of ${operation}: npm run dev -- trace-files --list`).toBeLessThanOrEqual(ceiling);
});
