/**
 * `npm run test:newest`: the sites against the newest yt-dlp of PyPI; a failure says whether yt-dlp or the service does otherwise
 * than before. `npm run test:newest -- --pin` pins that yt-dlp for all tests.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { PINNED_YT_DLP } from './support/installed-tools.ts';
import { withTemporaryFolder } from './support/media-tools.ts';
import { installPythonPackages } from './support/python-packages.ts';

const run = promisify(execFile);
const HEADER = '# The yt-dlp of the tests, by `npm run test:newest -- --pin`.\n';

const { stdout } = await run('python3', ['-m', 'pip', 'index', 'versions', 'yt-dlp', '--disable-pip-version-check']);
const [, newest = ''] = /^yt-dlp \((\S+)\)/m.exec(stdout) ?? [];
const [, pinned] = /^yt-dlp==(\S+)/m.exec(await readFile(PINNED_YT_DLP, 'utf8')) ?? [];
process.stdout.write(`yt-dlp ${newest} is the newest, ${pinned} is pinned\n`);
if (process.argv.includes('--pin')) await pin();
else {
  const args = [resolve(import.meta.dirname, 'run.ts'), 'test/sites'];
  const env = { ...process.env, TEST_NEWEST_YT_DLP: newest };
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit', env }), 'exit');
  process.stdout.write(
    code === 0 ? `The sites do the same with yt-dlp ${newest}\n` : `See above what ${newest} changes\n`,
  );
  process.exitCode = code ?? 1;
}

/** With what yt-dlp requires, by version and hash. */
async function pin(): Promise<void> {
  const python = await installPythonPackages('pip-tools', 'pip==25.3', 'pip-tools==7.6.2');
  await withTemporaryFolder(async (folder) => {
    const [input, output] = [join(folder, 'in'), join(folder, 'out')];
    await writeFile(input, `yt-dlp[default]==${newest}\n`);
    const options = [
      '--quiet',
      '--generate-hashes',
      '--strip-extras',
      '--no-header',
      '--no-annotate',
      '--no-emit-options',
    ];
    await run(python, ['-m', 'piptools', 'compile', ...options, '-o', output, input]);
    await writeFile(PINNED_YT_DLP, HEADER + (await readFile(output, 'utf8')));
  });
}
