import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { runCommand } from '../command-line.ts';

/** The commit that a release is made of. */
export interface Commit {
  readonly id: string;
  readonly version: string;
  /** When it was committed: the time of every file of the release (SOURCE_DATE_EPOCH). */
  readonly epochSeconds: number;
}

/** A file of a release, as a subject of its provenance. */
export interface ReleaseFile {
  readonly name: string;
  /** Hex. */
  readonly sha256: string;
}

/** @throws Error when the folder is no repository */
export async function readCommit(repository: string): Promise<Commit> {
  const git = (...args: string[]) => runCommand('git', ['-C', repository, ...args]);
  const [id = '', epoch] = (await git('show', '--no-patch', '--format=%H %ct', 'HEAD')).trim().split(' ');
  const { version } = JSON.parse(await git('show', `${id}:package.json`)) as { version: string };
  return { id, version, epochSeconds: Number(epoch) };
}

/**
 * Writes the files of a commit, whatever the work tree has: entries in the order of git, with the time of the commit and
 * without owners.
 */
export async function writeSourceArchive(repository: string, commit: Commit, dir: string): Promise<ReleaseFile> {
  const prefix = `reelay-${commit.version}`;
  const [plain, packed] = [join(dir, `${prefix}.tar`), join(dir, `${prefix}.tar.gz`)];
  // The modes of entries depend on a setting of the user otherwise.
  const archive = ['archive', '--format=tar', `--prefix=${prefix}/`, `--output=${plain}`, commit.id];
  await runCommand('git', ['-C', repository, '-c', 'tar.umask=0022', ...archive]);
  await writeFile(packed, await promisify(gzip)(await readFile(plain), { level: 9 }));
  await rm(plain);
  return describeFile(packed);
}

/** Name and digest of a file. */
export async function describeFile(path: string): Promise<ReleaseFile> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest, { end: false });
  return { name: basename(path), sha256: digest.digest('hex') };
}
