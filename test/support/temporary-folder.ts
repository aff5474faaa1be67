import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterFile } from './after-file.ts';

/** Creates a folder that is removed after the tests of the file. */
export async function temporaryFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-test-'));
  afterFile(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
