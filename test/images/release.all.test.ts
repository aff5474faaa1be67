import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Buildah, makeRelease, reproducibleBuild, writeImage } from '../../scripts/release.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { buildah } from './buildah.ts';
import { removeImages } from './image.ts';
import { oneMachineImage } from './one-machine-image.ts';
import { containersUnavailable } from './programs.ts';
import { OWN_ARCHITECTURE } from './stream-image.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const [FIRST, SECOND] = ['one-machine', 'one-machine-again'];

/** An image that the tests have built, in the place of a build with the registry. */
const withImage =
  (name: string): Buildah =>
  async (command, ...args) =>
    command === 'build'
      ? buildah('tag', `localhost/${name}`, args[args.indexOf('--tag') + 1] ?? '')
      : buildah(command, ...args);

describe.skipIf(containersUnavailable)('the container of a release', () => {
  it('is the same when it is built again', async () => {
    const makeFrom = async (name: string) => {
      await oneMachineImage(OWN_ARCHITECTURE, name);
      const outDir = join(await temporaryFolder(), 'release');
      await makeRelease({ repository: ROOT, outDir, buildah: withImage(name), architecture: 'amd64' });
      const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
      await buildah('rmi', `localhost/reelay:${version}`);
      return readFile(join(outDir, 'SHA256SUMS'), 'utf8');
    };
    const sums = await makeFrom(FIRST);
    onTestFinished(() => removeImages(SECOND));
    expect(await makeFrom(SECOND)).toBe(sums);
    expect(sums).toMatch(/ {2}reelay-[\d.]+-amd64\.docker\.tar\n$/);
  }, 600_000);

  it('is a file that engines load, with its health check and without the name of the container that built it', async () => {
    const dir = await temporaryFolder();
    await writeFile(join(dir, 'Dockerfile'), 'FROM scratch\nCOPY file /file\nHEALTHCHECK CMD ["/file"]\n');
    await writeFile(join(dir, 'file'), 'content');
    const file = join(dir, 'image.tar');
    const written: Buffer[] = [];
    for (const tag of ['localhost/release-test:1', 'localhost/release-test:1']) {
      await buildah('build', ...reproducibleBuild(86_400), '--tag', tag, dir);
      await writeImage(buildah, { tag, file, epochSeconds: 86_400 });
      written.push(await readFile(file));
      await buildah('rmi', tag);
    }
    expect(written[0]?.equals(written[1] ?? Buffer.alloc(0))).toBe(true);
    const loadedName = await buildah('pull', `docker-archive:${file}`);
    const loaded = JSON.parse(await buildah('inspect', '--type', 'image', loadedName));
    await buildah('rmi', '--force', loadedName);
    expect(loaded.Docker.config).toMatchObject({ Hostname: '', Healthcheck: { Test: ['CMD', '/file'] } });
  });
});
