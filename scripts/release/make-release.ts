import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClient } from '../build-client.ts';
import { runCommand } from '../command-line.ts';
import { type Buildah, componentsOf, reproducibleBuild, writeImage } from './container-image.ts';
import { type Dependency, makeProvenance } from './provenance.ts';
import { makeSbom } from './sbom.ts';
import { type Commit, describeFile, type ReleaseFile, readCommit, writeSourceArchive } from './source-archive.ts';

export interface ReleaseOptions {
  readonly repository: string;
  /** For the files of the release. Emptied. */
  readonly outDir: string;
  /** Builds the container too. */
  readonly buildah?: Buildah | undefined;
  /** The container is built for it. Spelled as container platforms do. */
  readonly architecture: 'amd64' | 'arm64';
  /** URI of who runs the build, for the provenance. */
  readonly builder: string;
}

export interface Release {
  readonly commit: Commit;
  /** Name of the file with the provenance. */
  readonly provenance: string;
  readonly files: readonly ReleaseFile[];
}

/** Base images of the Dockerfile. */
const BASE_IMAGE = /^FROM (?:--platform=\S+ )?(\S+:\S+)/gm;

/** Makes the files of a release out of the last commit. Two runs give the same files. */
export async function makeRelease(options: ReleaseOptions): Promise<Release> {
  const { repository, outDir, buildah, builder } = options;
  const commit = await readCommit(repository);
  const name = `reelay-${commit.version}`;
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), 'reelay-release-'));
  try {
    const archive = await writeSourceArchive(repository, commit, outDir);
    await runCommand('tar', ['-xzf', join(outDir, archive.name), '-C', work]);
    const sources = join(work, name);
    const sbom = await write(outDir, `${name}.cdx.json`, await makeSbom(sources, commit));
    const client = await packClient(sources, outDir);
    const container = buildah && (await makeContainer({ ...options, buildah, sources, commit }));
    const lockfile = await describeFile(join(sources, 'package-lock.json'));
    const made = [archive, sbom, client, ...(container?.files ?? [])];
    const statement = makeProvenance({
      ...{ commit, builder, files: made, repository: await urlOf(repository) },
      parameters: { container: container ? options.architecture : false },
      dependencies: [
        { name: 'package-lock.json', digest: { sha256: lockfile.sha256 } },
        ...(container?.dependencies ?? []),
      ],
      versions: { node: process.versions.node, npm: (await runCommand('npm', ['--version'])).trim() },
    });
    const provenance = await write(outDir, `${name}.provenance.json`, statement);
    const files = [...made.filter((file) => file.name.startsWith('reelay-')), provenance];
    const sums = files.map((file) => `${file.sha256}  ${file.name}\n`).join('');
    return { commit, provenance: provenance.name, files: [...files, await write(outDir, 'SHA256SUMS', sums)] };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The client package as npm publishes it, with entries of a constant time. */
async function packClient(sources: string, outDir: string): Promise<ReleaseFile> {
  const built = await buildClient({ root: sources, target: join(sources, 'dist/client') });
  // npm keeps the modes, which depend on a setting of the user.
  await runCommand('chmod', ['-R', 'u=rwX,go=rX', built]);
  const packed = await runCommand('npm', ['pack', '--json', '--pack-destination', outDir], built);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  return describeFile(join(outDir, filename));
}

interface ContainerOptions extends ReleaseOptions {
  readonly buildah: Buildah;
  readonly sources: string;
  readonly commit: Commit;
}

async function makeContainer(options: ContainerOptions): Promise<{ files: ReleaseFile[]; dependencies: Dependency[] }> {
  const { buildah, outDir, architecture, sources, commit } = options;
  const tag = `localhost/reelay:${commit.version}`;
  const platform = ['--platform', `linux/${architecture}`];
  await buildah('build', ...reproducibleBuild(commit.epochSeconds), ...platform, '--tag', tag, sources);
  const name = `reelay-${commit.version}-${architecture}`;
  const container = await buildah('from', '--pull=never', tag);
  try {
    const root = await buildah('mount', container);
    const sbom = await makeSbom(sources, commit, await componentsOf(root));
    const file = join(outDir, `${name}.docker.tar`);
    const image = await writeImage(buildah, { tag, file, epochSeconds: commit.epochSeconds });
    const files = [
      image.file,
      await write(outDir, `${name}.cdx.json`, sbom),
      { name: tag.replace('localhost/', ''), sha256: image.id },
    ];
    return { files, dependencies: await baseImages(buildah, sources) };
  } finally {
    await buildah('rm', container);
  }
}

/** The images that the Dockerfile starts from, as they were pulled. */
async function baseImages(buildah: Buildah, sources: string): Promise<Dependency[]> {
  const dockerfile = await readFile(join(sources, 'Dockerfile'), 'utf8');
  const [, debian = ''] = /^ARG DEBIAN=(\S+)/m.exec(dockerfile) ?? [];
  const names = new Set(
    [...dockerfile.matchAll(BASE_IMAGE)].map(([, name = '']) => name.replace(/\$\{DEBIAN\}/, debian)),
  );
  return Promise.all(
    [...names].sort().map(async (name) => {
      const uri = `docker.io/library/${name}`;
      const digest = await buildah('inspect', '--type', 'image', '--format', '{{.FromImageDigest}}', uri);
      return { uri: `docker://${uri}`, digest: { sha256: digest.replace('sha256:', '') } };
    }),
  );
}

async function write(dir: string, name: string, content: string): Promise<ReleaseFile> {
  await writeFile(join(dir, name), content);
  return describeFile(join(dir, name));
}

/** Where the repository is published. Addresses with a password, and paths of this machine, are left out. */
async function urlOf(repository: string): Promise<string | undefined> {
  const remote = await runCommand('git', ['-C', repository, 'remote', 'get-url', 'origin']).catch(() => '');
  const [, host, path] = /^(?:https:\/\/|ssh:\/\/git@|git@)([^/:@]+)[/:](.+?)(?:\.git)?\s*$/.exec(remote) ?? [];
  return host && path ? `git+https://${host}/${path}` : undefined;
}
