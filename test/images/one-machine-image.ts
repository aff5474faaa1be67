import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ALLOWED_ORIGINS, PLUGIN_DIR } from '../contract/target-settings.ts';
import { frozenYtDlp } from '../support/frozen-yt-dlp.ts';
import { type Container, startContainer } from './container.ts';
import { buildImage, type Image, oncePerRun } from './image.ts';
import { type ImageArchitecture, imageOf, OWN_ARCHITECTURE } from './stream-image.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * The image for one machine. The stage that installs the dependencies and runs `scripts/build-container.ts` is replaced: the
 * script runs here, with a frozen yt-dlp instead of the newest release.
 * @param architecture of the image, whose yt-dlp is a text file where it is not that of this machine
 * @param name of the image: another one is built again
 */
export async function oneMachineImage(
  architecture: ImageArchitecture = OWN_ARCHITECTURE,
  name = 'one-machine',
): Promise<Image> {
  const image = await imageOf(name, architecture);
  return oncePerRun(image.name, () => buildOneMachineImage(architecture, image));
}

async function buildOneMachineImage(
  architecture: ImageArchitecture,
  image: Awaited<ReturnType<typeof imageOf>>,
): Promise<Image> {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-one-machine-image-'));
  try {
    const isOwn = architecture === OWN_ARCHITECTURE;
    const ytDlpDir = isOwn ? (await frozenYtDlp()).dir : join(dir, 'yt-dlp');
    if (!isOwn) await writeYtDlpStub(ytDlpDir);
    const out = join(dir, 'build', 'out');
    await mkdir(join(dir, 'context'));
    const platform = architecture === 'arm64' ? 'arm64' : 'amd64';
    const sources = join(dir, 'src');
    await copySources(sources);
    await promisify(execFile)(
      process.execPath,
      ['scripts/build-container.ts', '--architecture', platform, '--out', out, '--yt-dlp', ytDlpDir],
      { cwd: sources, env: { PATH: process.env.PATH, HOME: process.env.HOME } },
    );
    return await buildImage({
      ...image,
      context: join(dir, 'context'),
      dockerfile: join(ROOT, 'Dockerfile'),
      stages: { ...image.stages, build: join(dir, 'build') },
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function writeYtDlpStub(dir: string): Promise<void> {
  await mkdir(dir);
  await writeFile(join(dir, 'README'), 'A release of yt-dlp for this processor cannot be made here.\n');
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
  user = image.config.User,
): Promise<{ container: Container; baseUrl: string }> {
  const [data, plugins] = [join(dir, 'data'), join(dir, 'plugins')];
  await mkdir(data, { recursive: true });
  await cp(join(image.root, 'app', 'plugins'), plugins, { recursive: true });
  await cp(PLUGIN_DIR, plugins, { recursive: true });
  const container = await startContainer(image, {
    env: { HOST: '127.0.0.1', PORT: '0', TOOLS_UPDATE_HOURS: '0', ...env },
    volumes: { '/data': data },
    user,
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
