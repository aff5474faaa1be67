import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { buildClient } from '../../scripts/build-client.ts';
import { packTarball, runCommand } from '../../scripts/command-line.ts';
import { useTarget } from '../contract/target.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const target = useTarget();
/** A project that has installed the package from its tarball. */
let project = '';

beforeAll(async () => {
  const folder = await temporaryFolder();
  const built = await buildClient({ target: join(folder, 'built') });
  project = await temporaryFolder();
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
  const tarball = await packTarball(built, folder);
  await runCommand('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], project);
});

it('the package has code, types, a description and a licence, and no dependency', async () => {
  const installed = join(project, 'node_modules/reelay-client');
  expect((await readdir(installed)).toSorted()).toEqual(['LICENSE', 'README.md', 'lib', 'package.json']);
  expect((await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
    'reelay-client',
  ]);
  const files = await readdir(join(installed, 'lib'), { recursive: true });
  expect(files).toEqual(expect.arrayContaining(['index.js', 'index.d.ts', 'files/index.js', 'cli/main.js']));
  for (const file of files.filter((name) => name.endsWith('.js')))
    expect(await readFile(join(installed, 'lib', file), 'utf8'), file).not.toMatch(/from '\.[^']*\.ts'/);
});

it('its types compile in a strict project, and its code runs', async () => {
  await writeFile(
    join(project, 'main.ts'),
    `import { type Client, createClient, type MediaRendition, type ProblemName, ReelayError, resolveList } from 'reelay-client';
import { type Download, download } from 'reelay-client/files';

const client: Client = createClient({ instance: process.argv[2] ?? '' });
const list = await resolveList(client, process.argv[3] ?? '');
const rendition: MediaRendition | undefined = list.mediaItems[0]?.video?.renditions[0];
if (!rendition) throw new Error('No rendition');
const { bytes }: Download = await download(client, client.streamUrl(rendition, { tags: 'false' }), { file: 'a.mp4' });
const wanted: ProblemName = 'bad-parameter';
// @ts-expect-error: there is no such bit rate
const failure: unknown = await client.locate('https://example.com', { bitrate: '5' }).catch((error) => error);
console.log(bytes, failure instanceof ReelayError && failure.code === wanted);
`,
  );
  const options = '--strict --module nodenext --target es2022 --lib es2022 --skipLibCheck false'.split(' ');
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  await runCommand(process.execPath, [tsc, ...options, ...types, 'main.ts'], project);
  const link = target.origin.url('/files/clip.mp4');
  const output = await runCommand(process.execPath, ['main.js', target.baseUrl, link], project);
  const { length } = await readFile(join(target.origin.mediaDir, 'clip.mp4'));
  expect(output).toBe(`${length} true\n`);
});

it('npx reelay-client downloads a link', async () => {
  const link = target.origin.url('/files/clip.mp4');
  const args = ['--offline', 'reelay-client', link, '-o', 'b.mp4', '-i', target.baseUrl];
  expect(await runCommand('npx', args, project)).toBe('b.mp4\n');
  const file = await readFile(join(project, 'b.mp4'));
  expect(file.equals(await readFile(join(target.origin.mediaDir, 'clip.mp4')))).toBe(true);
});
