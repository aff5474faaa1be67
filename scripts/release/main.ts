/**
 * `npm run release`: makes the files of a release out of the last commit, and says what a final one needs. Nothing leaves this
 * machine. See docs/releasing.md.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseCommandLine, UsageError } from '../command-line.ts';
import { localBuildah } from './container-image.ts';
import { findObstacles, finishRelease, verifyRelease } from './finish.ts';
import { makeRelease, type Release } from './make-release.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const USAGE =
  'Use: npm run release [-- --[no-]container] [--architecture amd64|arm64] [--out DIR] [--builder URI] [--final --key FILE], ' +
  'or npm run release -- --verify DIR --key FILE';
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function main(): Promise<void> {
  const { values } = parseCommandLine({
    options: {
      out: { type: 'string', default: join(REPOSITORY, 'dist/release') },
      container: { type: 'boolean' },
      architecture: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
      builder: { type: 'string', default: 'urn:reelay:local-builder' },
      final: { type: 'boolean', default: false },
      verify: { type: 'string' },
      key: { type: 'string' },
    },
    allowNegative: true,
  });
  const { architecture, final, verify, key, builder } = values;
  if ((architecture !== 'amd64' && architecture !== 'arm64') || ((final || verify) && !key))
    throw new UsageError(USAGE);
  const pem = key ? await readFile(key, 'utf8') : '';
  if (verify) return verifyFolder(resolve(verify), pem);

  const outDir = resolve(values.out);
  const obstacles = await findObstacles(REPOSITORY);
  if (final && obstacles.length > 0) throw new Error(obstacles.join('\n'));
  const hasContainer = values.container ?? (await isInstalled());
  const buildah = hasContainer ? localBuildah : undefined;
  const release = await makeRelease({ repository: REPOSITORY, outDir, buildah, architecture, builder });
  for (const { name, sha256 } of release.files) say(`${sha256}  ${name}`);
  say(`Version ${release.commit.version} of commit ${release.commit.id}, in ${outDir}`);
  if (!hasContainer) say('Without the container: it needs buildah, and the registry of its base images');
  if (final) await finish(outDir, release, pem);
  else explain(obstacles);
}

/** Whether there is a buildah. */
const isInstalled = (): Promise<boolean> =>
  localBuildah('version').then(
    () => true,
    () => false,
  );

function explain(obstacles: readonly string[]): void {
  say('Dry run: nothing was signed, tagged or published.');
  for (const obstacle of obstacles) say(`A final release needs: ${obstacle}`);
  say(
    'A final release signs and tags here: --final --key FILE, with a private key (openssl genpkey -algorithm ed25519)',
  );
}

async function finish(outDir: string, release: Release, key: string): Promise<void> {
  const { version } = release.commit;
  say(`Signed: ${await finishRelease(release, { repository: REPOSITORY, dir: outDir, key })}. Tagged: v${version}`);
  say('Nothing was published. To publish:');
  say(`  git push origin v${version}`);
  say(`  upload the files of ${outDir} to the release of the repository's host`);
  say(`  npm publish ${join(outDir, `reelay-client-${version}.tgz`)}`);
  if (release.files.some(({ name }) => name.endsWith('.docker.tar')))
    say(`  buildah push reelay:${version} docker://REGISTRY/reelay:${version}`);
}

async function verifyFolder(dir: string, key: string): Promise<void> {
  const envelopes = (await readdir(dir)).filter((name) => name.endsWith('.intoto.jsonl'));
  const [envelope] = envelopes;
  if (!envelope || envelopes.length > 1) throw new Error(`${dir} must have one file .intoto.jsonl`);
  for (const name of await verifyRelease(dir, await readFile(join(dir, envelope), 'utf8'), key))
    say(`${name} is as signed`);
}
