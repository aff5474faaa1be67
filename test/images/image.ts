import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { withLock } from '../../packages/yt-dlp-worker/src/install/version-store.ts';
import { reproducibleBuild } from '../../scripts/release.ts';
import { ensureBaseImages } from './base-images.ts';
import { buildah, IMAGES_DIR } from './buildah.ts';

/** A built image, unpacked. */
export interface Image {
  /** Its root directory. Not to be changed. */
  readonly root: string;
  /** Bytes of all files, packed with gzip as Docker pushes layers. */
  readonly packedBytes: number;
  readonly config: ImageConfig;
}

/** As in the image's configuration (OCI image specification, `config`). */
interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Volumes: Readonly<Record<string, object>>;
  readonly StopSignal?: string;
  readonly Healthcheck?: { readonly Test: readonly string[] };
}

interface BuildOptions {
  readonly name: string;
  /** The build context. */
  readonly context: string;
  /** @default `Dockerfile` in the context */
  readonly dockerfile?: string;
  /** Folders that replace stages of the Dockerfile, by stage name. */
  readonly stages?: Readonly<Record<string, string>>;
  /** As Docker names it. @default `linux` with the processor of this machine */
  readonly platform?: string;
}

const BUILD_TIMEOUT_MS = 600_000;
/** 1 January 2026. */
const EPOCH_SECONDS = 1_767_225_600;
const OWN_PLATFORM = `linux/${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;

/**
 * Builds a Dockerfile without a daemon. An image with the same inputs is built once, also by test processes that run at the
 * same time; building another one of the same name removes it.
 */
export async function buildImage(options: BuildOptions): Promise<Image> {
  const { name, context, dockerfile = join(context, 'Dockerfile'), stages = {} } = options;
  const key = await digestOf([dockerfile, context, ...Object.values(stages)]);
  const file = join(IMAGES_DIR, name, `${key}.json`);
  return recorded(file, join(IMAGES_DIR, 'lock'), async () => {
    await removeImages(name);
    return buildUnpacked({ ...options, dockerfile });
  });
}

/** An image by its record, which is made once, whichever process comes first. @param lock of those that wait for each other */
async function recorded(file: string, lock: string, make: () => Promise<Image>): Promise<Image> {
  const makeOnce = async () => {
    if (await isThere(file)) return;
    await writeFile(`${file}.new`, JSON.stringify(await make()));
    await rename(`${file}.new`, file);
  };
  await mkdir(dirname(file), { recursive: true });
  await withLock(lock, makeOnce, { signal: AbortSignal.timeout(BUILD_TIMEOUT_MS) });
  return JSON.parse(await readFile(file, 'utf8'));
}

/**
 * Builds an image once per run of `npm test`, during which its sources stay: bundles and the page take seconds each time.
 * Outside of such a run it is built each time.
 */
export async function oncePerRun(name: string, build: () => Promise<Image>): Promise<Image> {
  const { TEST_RUN } = process.env;
  if (!TEST_RUN) return build();
  const folder = join(IMAGES_DIR, name);
  const file = join(folder, `run-${TEST_RUN}.json`);
  return recorded(file, join(IMAGES_DIR, `${name}.lock`), async () => {
    const image = await build();
    for (const other of await readdir(folder)) if (other.startsWith('run-')) await rm(join(folder, other));
    return image;
  });
}

async function buildUnpacked({
  name,
  context,
  dockerfile,
  stages = {},
  platform,
}: BuildOptions & { readonly dockerfile: string }): Promise<Image> {
  await ensureBaseImages();
  const replaced = Object.entries(stages).flatMap(([stage, folder]) => ['--build-context', `${stage}=${folder}`]);
  const file = join(IMAGES_DIR, name, 'Dockerfile');
  const text = withoutStages(await readFile(dockerfile, 'utf8'), Object.keys(stages));
  // buildah 1.28 takes the platform of the image for that of the builder.
  await writeFile(file, platform ? text.replaceAll('$BUILDPLATFORM', OWN_PLATFORM) : text);
  const tag = `localhost/${name}`;
  await buildah(
    'build',
    ...[...reproducibleBuild(EPOCH_SECONDS), '--pull=never', '--tag', tag],
    ...(platform ? ['--platform', platform] : []),
    ...[...replaced, '--file', file, context],
  );
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', tag));
  const root = await buildah('mount', await buildah('from', '--pull=never', '--name', name, tag));
  return { root, packedBytes: await packedSizeOf(root), config: Docker.config };
}

/** A Dockerfile without some of its stages, which buildah would run although nothing is copied from them. */
const withoutStages = (dockerfile: string, names: readonly string[]): string =>
  names.reduce(
    (text, name) => text.replace(new RegExp(`^FROM .* AS ${name}\\n(?:(?!FROM ).*\\n)*`, 'm'), ''),
    dockerfile,
  );

/** Removes the builds of a name: containers, images and their records. */
export async function removeImages(name: string): Promise<void> {
  for (const file of await readdir(join(IMAGES_DIR, name))) await rm(join(IMAGES_DIR, name, file), { recursive: true });
  await buildah('rm', name).catch(() => undefined);
  await buildah('rmi', `localhost/${name}`).catch(() => undefined);
}

/** Of names, modes and contents. */
async function digestOf(paths: readonly string[]): Promise<string> {
  const digest = createHash('sha256').update(process.version);
  for (const path of paths) {
    for (const file of await filesIn(path)) {
      const { mode } = await stat(file);
      digest.update(`${relative(path, file)}\0${mode}\0`).update(await readFile(file));
    }
  }
  return digest.digest('hex').slice(0, 32);
}

async function filesIn(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

/** Bytes of all files, each packed with gzip. */
async function packedSizeOf(root: string): Promise<number> {
  let bytes = 0;
  for (const file of await filesIn(root)) bytes += (await promisify(gzip)(await readFile(file), { level: 6 })).length;
  return bytes;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
