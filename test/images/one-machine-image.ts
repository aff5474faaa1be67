import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ALLOWED_ORIGINS, PLUGIN_DIR } from '../contract/target-settings.ts';
import { frozenYtDlp } from '../support/frozen-yt-dlp.ts';
import { type Container, startContainer } from './container.ts';
import { buildImage, type Image } from './image.ts';
import { type ImageArchitecture, OWN_ARCHITECTURE } from './stream-image.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * The image for one machine. The stage that installs the dependencies and runs `scripts/build-container.ts` is replaced: the
 * script runs here, with a frozen yt-dlp instead of the newest release.
 */
export async function oneMachineImage(): Promise<Image> {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-one-machine-image-'));
  try {
    const [context, build] = [join(dir, 'context'), join(dir, 'build')];
    await mkdir(context);
    await buildFiles({ out: join(build, 'out'), architecture: OWN_ARCHITECTURE, ytDlpDir: (await frozenYtDlp()).dir });
    return await buildImage({ name: 'one-machine', context, dockerfile: join(ROOT, 'Dockerfile'), stages: { build } });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

export interface BuildFilesOptions {
  /** Created. */
  readonly out: string;
  readonly architecture: ImageArchitecture;
  /** An unpacked release, which is copied. */
  readonly ytDlpDir: string;
}

/** Runs `scripts/build-container.ts` as the Dockerfile does, with the dependencies of this machine. */
export async function buildFiles({ out, architecture, ytDlpDir }: BuildFilesOptions): Promise<void> {
  const sources = await mkdtemp(join(tmpdir(), 'reelay-one-machine-sources-'));
  try {
    await copySources(sources);
    const platform = architecture === 'arm64' ? 'arm64' : 'amd64';
    await promisify(execFile)(
      process.execPath,
      ['scripts/build-container.ts', '--architecture', platform, '--out', out, '--yt-dlp', ytDlpDir],
      { cwd: sources, env: { PATH: process.env.PATH, HOME: process.env.HOME } },
    );
  } finally {
    await rm(sources, { recursive: true, force: true });
  }
}

/** Copies what `.dockerignore` lets into the build, with the dependencies of this machine. */
async function copySources(to: string): Promise<void> {
  const lines = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  for (const line of lines.filter((each) => each.startsWith('!'))) {
    const name = line.slice(1).replace(/\/$/, '');
    await cp(join(ROOT, name), join(to, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(to, 'node_modules'));
}

/**
 * Starts the image on a free port, with the test extractor among its plugins.
 * @param dir for its volume, which a later container with the same folder finds again
 */
export async function startOneMachine(
  image: Image,
  dir: string,
  env: Readonly<Record<string, string>>,
): Promise<{ container: Container; baseUrl: string }> {
  const [data, plugins] = [join(dir, 'data'), join(dir, 'plugins')];
  await mkdir(data, { recursive: true });
  await cp(join(image.root, 'app', 'plugins'), plugins, { recursive: true });
  await cp(PLUGIN_DIR, plugins, { recursive: true });
  const container = await startContainer(image, {
    env: { HOST: '127.0.0.1', PORT: '0', TOOLS_UPDATE_HOURS: '0', ...env },
    volumes: { '/data': data },
    mounts: { '/app/plugins': plugins },
  });
  const { msg } = await container.said(/ listening on /);
  return { container, baseUrl: String(msg).replace(/^.* on /, '') };
}

/** Starts the container as the contract suite needs it. @param originHosts `host:port` of the media origins */
export async function startContractContainer(originHosts: readonly string[]) {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-contract-container-'));
  const { container, baseUrl } = await startOneMachine(await oneMachineImage(), dir, {
    REELAY_ENVIRONMENT: 'Development',
    CORS_ALLOWED_ORIGINS: ALLOWED_ORIGINS.join(','),
    EGRESS_ALLOW: originHosts.join(','),
    MAX_STREAMS_PER_CLIENT: '1000',
  });
  return {
    baseUrl,
    async close() {
      await container.end();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
