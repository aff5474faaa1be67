import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildah, IMAGES_DIR } from './buildah.ts';
import { SUITE, unpackDebian } from './debian.ts';

const DEBIAN_IMAGE = `public.ecr.aws/docker/library/debian:${SUITE}-slim`;
const NODE_IMAGE = `public.ecr.aws/docker/library/node:24-${SUITE}-slim`;

/**
 * Makes the base images of the Dockerfiles, since no registry is needed for tests: Debian from its packages, and Node from
 * the package that runs this test. Does nothing when they are there.
 */
export async function ensureBaseImages(): Promise<void> {
  const present = await buildah('images', '--format', '{{.Name}}:{{.Tag}}');
  if ([DEBIAN_IMAGE, NODE_IMAGE].every((name) => present.split('\n').includes(name))) return;
  const dir = await mkdtemp(join(IMAGES_DIR, 'base-'));
  try {
    await unpackDebian(join(dir, 'debian'), process.arch === 'arm64' ? 'arm64' : 'amd64');
    await buildFrom(dir, DEBIAN_IMAGE, 'FROM scratch\nCOPY debian/ /\n');
    await mkdir(join(dir, 'bin'));
    await copyFile(process.execPath, join(dir, 'bin', 'node'));
    await chmod(join(dir, 'bin', 'node'), 0o755);
    await buildFrom(dir, NODE_IMAGE, `FROM ${DEBIAN_IMAGE}\nCOPY bin/node /usr/local/bin/node\nCMD ["node"]\n`);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function buildFrom(dir: string, name: string, dockerfile: string): Promise<void> {
  await writeFile(join(dir, 'Dockerfile'), dockerfile);
  await buildah('build', '--isolation', 'chroot', '--pull=never', '--tag', name, dir);
}
