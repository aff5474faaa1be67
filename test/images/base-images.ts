import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildah, IMAGES_DIR } from './buildah.ts';
import { requirePrograms } from './programs.ts';

const run = promisify(execFile);

/** The release of Debian that the Dockerfiles name. */
export const SUITE = 'trixie';
export const DEBIAN_IMAGE = `docker.io/library/debian:${SUITE}-slim`;
export const NODE_IMAGE = `docker.io/library/node:24-${SUITE}-slim`;
/** What `debian:…-slim` leaves out, too. */
export const LEFT_OUT = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*'];

/**
 * Makes the base images of the Dockerfiles, since no registry is needed for tests: Debian from its packages, and Node from
 * the package that runs this test. Does nothing when they are there.
 */
export async function ensureBaseImages(): Promise<void> {
  const present = await buildah('images', '--format', '{{.Name}}:{{.Tag}}');
  if ([DEBIAN_IMAGE, NODE_IMAGE].every((name) => present.split('\n').includes(name))) return;
  requirePrograms('mmdebstrap');
  const dir = await mkdtemp(join(IMAGES_DIR, 'base-'));
  try {
    await run('mmdebstrap', [
      ...['--variant=minbase', '--mode=root', '--quiet', '--skip=output/mknod'],
      ...LEFT_OUT.map((path) => `--dpkgopt=path-exclude=${path}`),
      ...[SUITE, join(dir, 'debian.tar')],
    ]);
    await buildFrom(dir, DEBIAN_IMAGE, 'FROM scratch\nADD debian.tar /\nCMD ["bash"]\n');
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
