import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { installedTools } from '../support/installed-tools.ts';

const FOLDER = join(import.meta.dirname, '../../packages/yt-dlp-worker');

it('the example of the README starts a worker, which reaches no private address', async () => {
  const example = join(FOLDER, 'example.ts');
  expect(readFileSync(join(FOLDER, 'README.md'), 'utf8')).toContain(`\`\`\`ts\n${readFileSync(example, 'utf8')}\`\`\``);
  const { ytDlp } = await installedTools();
  const link = 'http://169.254.169.254/latest/meta-data';
  const { stdout } = await promisify(execFile)(process.execPath, [example, link, ...ytDlp.command]);
  expect(stdout).toContain("kind: 'egress_refused'");
});
