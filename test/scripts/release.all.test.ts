import { execFile } from 'node:child_process';
import { appendFile, chmod, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeRelease, prepareRelease, repositoryFields } from '../../scripts/release.ts';
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

describe('the preparation of a release', () => {
  it('raises the version, names its changes, commits and tags, once', async () => {
    const repository = await clone();
    await git(repository, 'config', 'user.name', 'Somebody');
    await git(repository, 'config', 'user.email', 'somebody@host.example');
    await writeFile(join(repository, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n');
    await expect(prepareRelease(repository, '7.8.9')).rejects.toThrow('Commit or stash');
    await git(repository, 'commit', '--all', '--message', 'Add a thing');
    await expect(prepareRelease(repository, 'v7')).rejects.toThrow('v7 is not a version');
    await prepareRelease(repository, '7.8.9');
    expect(await git(repository, 'log', '-1', '--format=%s %D')).toMatch(/^Release 7\.8\.9 HEAD.*tag: v7\.8\.9/);
    expect(await git(repository, 'tag', '--list', '--format=%(contents)')).toBe(
      'Reelay 7.8.9\n\n### Added\n\n- A thing.\n\n',
    );
    const lock = JSON.parse(await git(repository, 'show', 'HEAD:package-lock.json'));
    expect([lock.version, lock.packages[''].version]).toEqual(['7.8.9', '7.8.9']);
    expect(await git(repository, 'show', 'HEAD:homeassistant/config.yaml')).toContain('\nversion: "7.8.9"\n');
    const changes = await git(repository, 'diff', '--numstat', 'HEAD~', '--', 'package.json', 'package-lock.json');
    expect(changes).toBe('2\t2\tpackage-lock.json\n1\t1\tpackage.json\n');
    await expect(prepareRelease(repository, '7.9.0')).rejects.toThrow('has no entry');
    await git(repository, 'checkout', '--', '.');

    const outDir = await make(repository);
    expect(await readFile(join(outDir, 'CHANGES.md'), 'utf8')).toBe('### Added\n\n- A thing.\n');
  });

  it.each([
    ['https://token@git.example/owner/reelay.git'],
    ['https://git.example/owner/reelay'],
    ['git@git.example:owner/reelay.git'],
  ])('takes the place of the repository from %s', async (remote) => {
    const repository = await temporaryFolder();
    await git(repository, 'init', '--quiet');
    expect(await repositoryFields(repository)).toEqual({});
    await git(repository, 'remote', 'add', 'origin', remote);
    expect(await repositoryFields(repository)).toEqual({
      homepage: 'https://git.example/owner/reelay#readme',
      repository: { type: 'git', url: 'git+https://git.example/owner/reelay.git' },
      bugs: { url: 'https://git.example/owner/reelay/issues' },
    });
  });
});
