/**
 * `npm run build -- release`: the archive of the last commit and the image for one machine, the same in every run;
 * `-- release --prepare VERSION` makes the commit and the tag of a release. See docs/releasing.md.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { parseCommandLine, runCommand, UsageError } from './command-line.ts';

/** Runs buildah. @returns its output, trimmed */
export type Buildah = (command: string, ...args: readonly string[]) => Promise<string>;

const ROOT = resolve(import.meta.dirname, '..');
const localBuildah: Buildah = async (command, ...args) => (await runCommand('buildah', [command, ...args])).trim();

/**
 * Options of `buildah build` with which the same input gives the same image: all times in it are this one. The format of
 * Docker has a health check, that of OCI has none.
 */
export const reproducibleBuild = (epochSeconds: number): string[] => [
  ...['--isolation', 'chroot', '--format', 'docker', '--layers=false'],
  ...['--timestamp', String(epochSeconds)],
];

export interface ReleaseOptions {
  readonly repository: string;
  /** Emptied. */
  readonly outDir: string;
  /** Builds the image too. */
  readonly buildah?: Buildah | undefined;
  /** Architecture of the image, as container platforms spell it. */
  readonly architecture: string;
}

/** @returns paths of the files */
export async function makeRelease({ repository, outDir, buildah, architecture }: ReleaseOptions): Promise<string[]> {
  const git = (...args: string[]) => runCommand('git', ['-C', repository, ...args]);
  const [commit = '', epoch] = (await git('show', '--no-patch', '--format=%H %ct', 'HEAD')).trim().split(' ');
  const { version } = JSON.parse(await git('show', `${commit}:package.json`)) as { version: string };
  const epochSeconds = Number(epoch);
  const name = `reelay-${version}`;
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), 'reelay-release-'));
  try {
    const plain = join(work, `${name}.tar`);
    // The modes of entries depend on a setting of the user otherwise.
    const archive = ['archive', '--format=tar', `--prefix=${name}/`, `--output=${plain}`, commit];
    await git('-c', 'tar.umask=0022', ...archive);
    const files = [join(outDir, `${name}.tar.gz`)];
    await writeFile(files[0] as string, await promisify(gzip)(await readFile(plain), { level: 9 }));
    if (buildah) {
      await runCommand('tar', ['-xf', plain, '-C', work]);
      const tag = `localhost/reelay:${version}`;
      const platform = ['--platform', `linux/${architecture}`];
      await buildah('build', ...reproducibleBuild(epochSeconds), ...platform, '--tag', tag, join(work, name));
      const file = join(outDir, `${name}-${architecture}.docker.tar`);
      await writeImage(buildah, { tag, file, epochSeconds });
      files.push(file);
    }
    const sums = await Promise.all(files.map(async (file) => `${await sha256Of(file)}  ${basename(file)}\n`));
    await writeFile(join(outDir, 'SHA256SUMS'), sums.join(''));
    const notes = join(outDir, 'CHANGES.md');
    await writeFile(notes, changesOf(await git('show', `${commit}:CHANGELOG.md`), version));
    return [...files, join(outDir, 'SHA256SUMS'), notes];
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The section of a version in the changelog, without its heading; before its release that of what is not released. */
function changesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m);
  const found = sections.find((section) => section.startsWith(`${version} `));
  const [, ...lines] = (found ?? sections[1] ?? '').split('\n');
  return `${lines.join('\n').trim()}\n`;
}

/**
 * Makes the commit of a release, which raises the version and names the unreleased section of the changelog, and its tag. Signed where
 * the configuration of git says so.
 * @throws UsageError @throws Error when there are changes that are not committed, or nothing is unreleased
 */
export async function prepareRelease(repository: string, version: string): Promise<void> {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new UsageError(`${version} is not a version such as 1.2.0`);
  const git = (...args: string[]) => runCommand('git', ['-C', repository, ...args]);
  if ((await git('status', '--porcelain')) !== '') throw new Error('Commit or stash what is changed');
  const change = async (name: string, edit: (text: string) => string) => {
    const text = await readFile(join(repository, name), 'utf8');
    await writeFile(join(repository, name), edit(text));
  };
  const date = new Date().toISOString().slice(0, 10);
  await change('CHANGELOG.md', (text) => {
    const named = text.replace(/^## Unreleased\n(?!\s*(?:## |$(?!\n)))/m, `## Unreleased\n\n## ${version} (${date})\n`);
    if (named === text) throw new Error('The unreleased section of CHANGELOG.md has no entry');
    return named;
  });
  await change('package.json', (text) => toJson({ ...JSON.parse(text), version }));
  await change('package-lock.json', (text) => {
    const lock = JSON.parse(text);
    return toJson({ ...lock, version, packages: { ...lock.packages, '': { ...lock.packages[''], version } } });
  });
  await change('homeassistant/config.yaml', (text) => text.replace(/^version: .*$/m, `version: "${version}"`));
  await git('commit', '--all', '--message', `Release ${version}`);
  const changes = changesOf(await git('show', 'HEAD:CHANGELOG.md'), version);
  // Headings begin with what is a comment to git otherwise.
  await git('tag', '--annotate', '--cleanup=whitespace', '--message', `Reelay ${version}\n\n${changes}`, `v${version}`);
}

const toJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/** `repository` and `bugs` of a published `package.json`: where the clone was fetched from, if from a host. */
export async function repositoryFields(repository: string): Promise<object> {
  const remote = await runCommand('git', ['-C', repository, 'remote', 'get-url', 'origin']).catch(() => '');
  const [, host, path] =
    /^(?:https?:\/\/(?:[^@/]*@)?|(?:ssh:\/\/)?git@)([\w.-]+)[:/](.+?)(?:\.git)?\/?$/.exec(remote.trim()) ?? [];
  if (!host) return {};
  const url = `https://${host}/${path}`;
  return {
    homepage: `${url}#readme`,
    repository: { type: 'git', url: `git+${url}.git` },
    bugs: { url: `${url}/issues` },
  };
}

interface ImageFile {
  readonly tag: string;
  readonly file: string;
  readonly epochSeconds: number;
}

/**
 * Writes an image into a file that `docker load` and `podman load` read. The same for the same build: the format of Docker
 * also has the name of the container that built it, which is random.
 */
export async function writeImage(buildah: Buildah, { tag, file, epochSeconds }: ImageFile): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-release-image-'));
  try {
    const name = tag.replace(/^localhost\//, '');
    await buildah('push', tag, `docker-archive:${dir}.tar:${name}`);
    await runCommand('tar', ['--extract', '--file', `${dir}.tar`, '--directory', dir]);
    const read = async (path: string) => JSON.parse(await readFile(join(dir, path), 'utf8'));
    const [manifest] = (await read('manifest.json')) as [{ Config: string; Layers: readonly string[] }];
    const { container: _, container_config: __, ...config } = await read(manifest.Config);
    const text = JSON.stringify({ ...config, config: { ...config.config, Hostname: '' } });
    const configFile = `${createHash('sha256').update(text).digest('hex')}.json`;
    await writeFile(join(dir, configFile), text);
    await writeFile(
      join(dir, 'manifest.json'),
      JSON.stringify([{ ...manifest, Config: configFile, RepoTags: [name] }]),
    );
    const plain = ['--format=ustar', `--mtime=@${epochSeconds}`, '--owner=0', '--group=0', '--numeric-owner'];
    const entries = [configFile, 'manifest.json', ...manifest.Layers];
    await runCommand('tar', [...plain, '--mode=644', '--create', '--file', file, '--directory', dir, ...entries]);
  } finally {
    await rm(dir, { recursive: true, force: true });
    await rm(`${dir}.tar`, { force: true });
  }
}

async function sha256Of(path: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest, { end: false });
  return digest.digest('hex');
}

async function main(): Promise<void> {
  const { values } = parseCommandLine({
    options: {
      out: { type: 'string', default: join(ROOT, 'dist/release') },
      container: { type: 'boolean', default: true },
      prepare: { type: 'string' },
      architecture: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
    },
    allowNegative: true,
  });
  const { architecture, container, prepare } = values;
  if (prepare !== undefined) return prepareRelease(ROOT, prepare);
  const outDir = resolve(values.out);
  await makeRelease({ repository: ROOT, outDir, architecture, buildah: container ? localBuildah : undefined });
  process.stdout.write(await readFile(join(outDir, 'SHA256SUMS'), 'utf8'));
}

if (import.meta.main)
  await main().catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
