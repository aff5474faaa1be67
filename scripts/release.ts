/**
 * `npm run build -- release`: the archive of the last commit and the image for one machine, the same in every run. See docs/releasing.md.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { parseCommandLine, runCommand } from './command-line.ts';

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
    return [...files, join(outDir, 'SHA256SUMS')];
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

export interface ImageFile {
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
      architecture: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
    },
    allowNegative: true,
  });
  const { architecture, container } = values;
  const outDir = resolve(values.out);
  await makeRelease({ repository: ROOT, outDir, architecture, buildah: container ? localBuildah : undefined });
  process.stdout.write(await readFile(join(outDir, 'SHA256SUMS'), 'utf8'));
}

if (import.meta.main)
  await main().catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
