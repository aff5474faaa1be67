import { execFile } from 'node:child_process';
import { appendFile, chmod, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeRelease } from '../../scripts/release.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const git = async (repository: string, ...args: string[]) => (await run('git', ['-C', repository, ...args])).stdout;

/** A clone of the last commit. */
async function clone(): Promise<string> {
  const dir = join(await temporaryFolder(), 'clone');
  await run('git', ['clone', '--quiet', '--depth', '1', `file://${ROOT}`, dir]);
  return dir;
}

async function make(repository: string): Promise<string> {
  const outDir = join(await temporaryFolder(), 'release');
  await makeRelease({ repository, outDir, architecture: 'amd64' });
  return outDir;
}

const sumsIn = (outDir: string) => readFile(join(outDir, 'SHA256SUMS'), 'utf8');

describe('a release', () => {
  let repository: string;
  let outDir: string;
  beforeAll(async () => {
    repository = await clone();
    outDir = await make(repository);
  });

  it('is the same in another folder, at another time, with other settings and a changed work tree', async () => {
    const other = await clone();
    await git(other, 'config', 'tar.umask', '0077');
    await appendFile(join(other, 'README.md'), 'changed');
    await writeFile(join(other, 'untracked'), '');
    await chmod(join(other, 'package.json'), 0o600);
    await utimes(join(other, 'package.json'), 1, 1);
    expect(await sumsIn(await make(other))).toBe(await sumsIn(outDir));
  });

  it('has an archive of the commit, with its time and no owners', async () => {
    const { version } = JSON.parse(await git(repository, 'show', 'HEAD:package.json'));
    const [epoch] = (await git(repository, 'show', '--no-patch', '--format=%ct', 'HEAD')).trim().split(' ');
    const archive = join(outDir, `reelay-${version}.tar.gz`);
    const options = ['--list', '--verbose', '--utc', '--full-time', '--numeric-owner', '--file', archive];
    const { stdout } = await run('tar', options);
    const rows = stdout.trim().split('\n');
    const names = rows.map((row) => row.split(/\s+/).slice(5).join(' '));
    const files = (await git(repository, 'ls-files')).trim().split('\n');
    const prefix = `reelay-${version}/`;
    expect(names.filter((name) => !name.endsWith('/')).sort()).toEqual(files.map((name) => `${prefix}${name}`).sort());
    const time = new Date(Number(epoch) * 1000).toISOString().slice(0, 19).replace('T', ' ');
    for (const row of rows) expect(row).toMatch(new RegExp(` 0/0 +\\d+ ${time} `));
    expect(await sumsIn(outDir)).toMatch(new RegExp(`^[\\da-f]{64}  ${basename(archive)}\n$`));
  });

  it('has sums that sha256sum verifies', async () => {
    await expect(run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: outDir })).resolves.toBeDefined();
  });
});
