import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PINNED_FFMPEG_PURL } from '../../core/tools/ffmpeg/index.ts';
import { runCommand } from '../command-line.ts';
import type { Component } from './sbom.ts';
import { describeFile, type ReleaseFile } from './source-archive.ts';

/** Runs buildah. @returns its output, trimmed */
export type Buildah = (command: string, ...args: readonly string[]) => Promise<string>;

/** buildah with the storage and the registries of this machine. */
export const localBuildah: Buildah = async (command, ...args) =>
  (await runCommand('buildah', [command, ...args])).trim();

/**
 * Options of `buildah build` with which the same input gives the same image: all times in it are this one. The format of
 * Docker has a health check, that of OCI has none.
 */
export const reproducibleBuild = (epochSeconds: number): string[] => [
  ...['--isolation', 'chroot', '--format', 'docker', '--layers=false'],
  ...['--timestamp', String(epochSeconds)],
];

/** An image in a file, and the digest of its configuration, which names its layers: the id by which engines know it. */
export interface WrittenImage {
  readonly file: ReleaseFile;
  /** Hex. */
  readonly id: string;
}

/** `manifest.json` of the format that `docker save` writes. */
interface Manifest {
  Config: string;
  readonly RepoTags: readonly string[];
  readonly Layers: readonly string[];
}

/**
 * Writes an image into a file that `docker load` and `podman load` read. The same for the same build: the format of Docker
 * also has the name of the container that built it, which is random.
 */
export async function writeImage(
  buildah: Buildah,
  { tag, file, epochSeconds }: { readonly tag: string; readonly file: string; readonly epochSeconds: number },
): Promise<WrittenImage> {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-release-image-'));
  try {
    const name = tag.replace(/^localhost\//, '');
    await buildah('push', tag, `docker-archive:${dir}.tar:${name}`);
    await runCommand('tar', ['--extract', '--file', `${dir}.tar`, '--directory', dir]);
    const [manifest] = JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8')) as [Manifest];
    const {
      container: _,
      container_config: __,
      ...config
    } = JSON.parse(await readFile(join(dir, manifest.Config), 'utf8'));
    const text = JSON.stringify({ ...config, config: { ...config.config, Hostname: '' } });
    const id = createHash('sha256').update(text).digest('hex');
    await writeFile(join(dir, `${id}.json`), text);
    await writeFile(
      join(dir, 'manifest.json'),
      JSON.stringify([{ ...manifest, Config: `${id}.json`, RepoTags: [name] }]),
    );
    const entries = [`${id}.json`, 'manifest.json', ...manifest.Layers];
    const plain = [
      '--format=ustar',
      `--mtime=@${epochSeconds}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=644',
    ];
    await runCommand('tar', [...plain, '--create', '--file', file, '--directory', dir, ...entries]);
    return { file: await describeFile(file), id };
  } finally {
    await rm(dir, { recursive: true, force: true });
    await rm(`${dir}.tar`, { force: true });
  }
}

/** The programs and libraries of an image that no lockfile has. @param root the mounted image */
export async function componentsOf(root: string): Promise<Component[]> {
  const release = await readFile(join(root, 'usr/lib/os-release'), 'utf8');
  const node = await readFile(join(root, 'usr/local/bin/node'), 'latin1');
  const nodeVersion = /\/release\/v(\d+\.\d+\.\d+)\//.exec(node)?.[1] ?? '';
  const ytDlp = (await readdir(join(root, 'app/yt-dlp'))).find((name) => name.startsWith('yt-dlp_')) ?? '';
  const system = [...(await filesBelow(root, 'usr/bin')), ...(await filesBelow(root, 'usr/lib'))];
  return [
    {
      ...(await componentAt(root, 'usr/local/bin/node')),
      ...{ type: 'application', name: 'node', version: nodeVersion, purl: `pkg:generic/node@${nodeVersion}` },
    },
    {
      ...(await componentAt(root, 'usr/local/bin/ffmpeg')),
      ...{ type: 'application', name: 'ffmpeg', purl: PINNED_FFMPEG_PURL },
    },
    { ...(await componentAt(root, join('app/yt-dlp', ytDlp))), type: 'application', name: 'yt-dlp' },
    { type: 'operating-system', name: 'debian', version: /^VERSION_ID="?([^"\n]+)/m.exec(release)?.[1] ?? '' },
    ...(await Promise.all(system.map((path) => componentAt(root, path)))),
  ];
}

async function componentAt(root: string, path: string): Promise<Component> {
  const { sha256 } = await describeFile(join(root, path));
  return { type: 'file', name: `/${path}`, sha256 };
}

async function filesBelow(root: string, dir: string): Promise<string[]> {
  const entries = await readdir(join(root, dir), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .sort();
}
