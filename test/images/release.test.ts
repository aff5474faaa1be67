import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Buildah, reproducibleBuild, writeImage } from '../../scripts/release/container-image.ts';
import { makeRelease } from '../../scripts/release/make-release.ts';
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
  it('is the same when it is built again, with a bill of materials and a provenance', async () => {
    const makeFrom = async (name: string) => {
      await oneMachineImage(OWN_ARCHITECTURE, name);
      const outDir = join(await temporaryFolder(), 'release');
      const options = {
        repository: ROOT,
        outDir,
        buildah: withImage(name),
        architecture: 'amd64',
        builder: 'urn:test',
      } as const;
      const release = await makeRelease(options);
      await buildah('rmi', `localhost/reelay:${release.commit.version}`);
      return { outDir, ...release };
    };
    const { outDir, files, commit, provenance } = await makeFrom(FIRST);
    onTestFinished(() => removeImages(SECOND));
    const again = await makeFrom(SECOND);
    expect(again.files).toEqual(files);
    const names = files.map(({ name }) => name);
    expect((await readdir(outDir)).sort()).toEqual(names.toSorted());

    const sbom = JSON.parse(await readFile(join(outDir, `reelay-${commit.version}-amd64.cdx.json`), 'utf8'));
    const byName = new Map(sbom.components.map((each: { name: string }) => [each.name, each]));
    const hashes = [{ alg: 'SHA-256', content: expect.stringMatching(/^[\da-f]{64}$/) }];
    expect(byName.get('node')).toMatchObject({ version: process.versions.node, hashes });
    expect(byName.get('ffmpeg')).toMatchObject({ purl: expect.stringContaining('imageio-ffmpeg@'), hashes });
    expect(byName.get('debian')).toMatchObject({ version: '13' });
    for (const name of ['yt-dlp', '/usr/bin/setpriv', '/usr/bin/prlimit'])
      expect(byName.get(name)).toMatchObject({ hashes });
    expect(byName.get('fastify')).toBeDefined();

    const { subject, predicate } = JSON.parse(await readFile(join(outDir, provenance), 'utf8'));
    expect(subject.map(({ name }: { name: string }) => name)).toEqual([
      ...names.filter((name) => name !== provenance && name !== 'SHA256SUMS'),
      `reelay:${commit.version}`,
    ]);
    const bases = predicate.buildDefinition.resolvedDependencies.map(({ uri = '' }: { uri?: string }) => uri);
    expect(bases).toEqual(
      expect.arrayContaining([
        'docker://docker.io/library/debian:trixie-slim',
        'docker://docker.io/library/node:24-trixie-slim',
      ]),
    );
  }, 600_000);

  it('is a file that engines load, with its health check and without the name of the container that built it', async () => {
    const dir = await temporaryFolder();
    await writeFile(join(dir, 'Dockerfile'), 'FROM scratch\nCOPY file /file\nHEALTHCHECK CMD ["/file"]\n');
    await writeFile(join(dir, 'file'), 'content');
    const written = [];
    for (const tag of ['localhost/release-test:1', 'localhost/release-test:1']) {
      await buildah('build', ...reproducibleBuild(86_400), '--tag', tag, dir);
      written.push(await writeImage(buildah, { tag, file: join(dir, 'image.tar'), epochSeconds: 86_400 }));
      await buildah('rmi', tag);
    }
    expect(written[1]).toEqual(written[0]);
    const loadedName = await buildah('pull', `docker-archive:${join(dir, 'image.tar')}`);
    const loaded = JSON.parse(await buildah('inspect', '--type', 'image', loadedName));
    await buildah('rmi', '--force', loadedName);
    expect(loaded.FromImageID).toBe(written[0]?.id);
    expect(loaded.Docker.config).toMatchObject({ Hostname: '', Healthcheck: { Test: ['CMD', '/file'] } });
  });
});
