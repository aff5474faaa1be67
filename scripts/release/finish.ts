import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command-line.ts';
import type { Release } from './make-release.ts';
import { readSigned, signStatement } from './provenance.ts';
import { type Commit, describeFile, readCommit } from './source-archive.ts';

/** What keeps the last commit from being released, a line each. */
export async function findObstacles(repository: string): Promise<string[]> {
  const { id, version } = await readCommit(repository);
  const git = (...args: string[]) => runCommand('git', ['-C', repository, ...args]);
  const changes = await git('status', '--porcelain');
  const changelog = await git('show', `${id}:CHANGELOG.md`).catch(() => '');
  const tagged = (
    await git('rev-parse', '--verify', '--quiet', `refs/tags/v${version}^{commit}`).catch(() => '')
  ).trim();
  return [
    ...(changes === '' ? [] : ['The work tree has changes that the commit has not: commit or remove them']),
    ...(changelog.includes(`## ${version}`)
      ? []
      : [`CHANGELOG.md has no section "## ${version}": name the unreleased one`]),
    ...(tagged && tagged !== id ? [`v${version} is another commit: raise the version in package.json`] : []),
  ];
}

/** Signs the provenance, and with it every file that it names, and tags the commit here. @param key private, PEM */
export async function finishRelease(
  release: Release,
  { repository, dir, key }: { readonly repository: string; readonly dir: string; readonly key: string },
): Promise<string> {
  const statement = await readFile(join(dir, release.provenance), 'utf8');
  const name = release.provenance.replace('.provenance.json', '.intoto.jsonl');
  await writeFile(join(dir, name), signStatement(statement, key));
  await tag(repository, release.commit);
  return name;
}

async function tag(repository: string, { id, version }: Commit): Promise<void> {
  const git = (...args: string[]) => runCommand('git', ['-C', repository, ...args]);
  const isTagged = (await git('tag', '--list', `v${version}`)).trim() !== '';
  if (!isTagged) await git('tag', '--annotate', '--message', `Release ${version}`, `v${version}`, id);
}

/**
 * Checks the files of a release in a folder against its signed provenance.
 * @param key public, PEM
 * @returns names of files that are as signed
 * @throws Error with the first that is not, or when none is there
 */
export async function verifyRelease(dir: string, envelope: string, key: string): Promise<string[]> {
  const verified: string[] = [];
  for (const { name, sha256 } of readSigned(envelope, key)) {
    const file = await describeFile(join(dir, name)).catch(() => undefined);
    if (!file) continue;
    if (file.sha256 !== sha256) throw new Error(`${name} is not the file that was signed`);
    verified.push(name);
  }
  if (verified.length === 0) throw new Error(`${dir} contains no signed file`);
  return verified;
}
