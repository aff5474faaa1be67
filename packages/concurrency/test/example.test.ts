import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const FOLDER = join(import.meta.dirname, '..');

it('the example of the README loads a name once for all who ask for it', async () => {
  const example = join(FOLDER, 'example.ts');
  expect(readFileSync(join(FOLDER, 'README.md'), 'utf8')).toContain(`\`\`\`ts\n${readFileSync(example, 'utf8')}\`\`\``);
  const { stdout } = await promisify(execFile)(process.execPath, [example]);
  expect(stdout).toBe("Loading a\nLoading b\n[ 'A', 'A', 'B' ]\n");
});
