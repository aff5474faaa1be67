import { execFile } from 'node:child_process';
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPackage } from '../../scripts/build-package.ts';
import { runCommand } from '../../scripts/command-line.ts';
import { startOrigin } from '../origin/server.ts';
import { checkTypes } from '../support/check-types.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { MESSAGE_HEADERS, messageOf } from '../support/mcp-client.ts';
import { fetchPackage } from '../support/programs.ts';
import { useStarted } from '../support/started.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const EXAMPLE = join(ROOT, 'docs/examples/reelay-in-a-server.ts');
const origin = closeAfterwards(await startOrigin());
/** An empty project that has installed the package. */
let project = '';
let built = '';
let env: NodeJS.ProcessEnv;
const start = useStarted(await temporaryFolder());

beforeAll(async () => {
  const folder = await temporaryFolder();
  built = await buildPackage(join(folder, 'built'));
  project = await temporaryFolder();
  const tarball = (await runCommand('npm', ['pack', '--silent', '--pack-destination', folder], built)).trim();
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
  const flags = ['--offline', '--no-audit', '--no-fund', '--omit=peer'];
  await runCommand('npm', ['install', ...flags, join(folder, tarball)], project);
  const toolsDir = await createToolsFolder(join(folder, 'tools'));
  env = { TOOLS_DIR: toolsDir, EGRESS_ALLOW: origin.host };
});

async function expectToServe(baseUrl: string): Promise<void> {
  // The page is read, and the tools are looked up, after the service has begun to listen.
  await expect.poll(async () => (await fetch(baseUrl)).status).toBe(200);
  const query = new URLSearchParams({ url: origin.url('/files/clip.mp4') });
  await expect.poll(async () => (await fetch(`${baseUrl}/api/Fetch/GetResource?${query}`)).status).toBe(200);
  const page = await fetch(baseUrl);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')]);
  expect((await fetch(`${baseUrl}/swagger/v1/swagger.json`)).status).toBe(200);
  const whole = await fetch(`${baseUrl}/api/Get?${query}`);
  const expected = await readFile(join(origin.mediaDir, 'clip.mp4'));
  expect([whole.status, Buffer.from(await whole.arrayBuffer()).equals(expected)]).toEqual([200, true]);
  const sent = { method: 'POST', headers: MESSAGE_HEADERS, body: messageOf('tools/list') };
  const tools = await fetch(`${baseUrl}/mcp`, sent);
  expect([tools.status, await tools.text()]).toEqual([200, expect.stringContaining('"tools"')]);
}

describe('the package', () => {
  it('has the service, the page, the licences of what it contains, and no dependency', async () => {
    const installed = join(project, 'node_modules/reelay');
    expect((await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual(['reelay']);
    expect(await readdir(installed)).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'index.d.ts', 'plugins', 'reelay.mjs', 'swagger', 'web']),
    );
    expect((await readdir(installed, { recursive: true })).filter((name) => name.endsWith('.map'))).toEqual([]);
    const licences = await readFile(join(installed, 'THIRD-PARTY-LICENSES'), 'utf8');
    for (const name of ['fastify', 'undici', 'preact', 'mediabunny', 'hls.js'])
      expect(licences).toMatch(new RegExp(`^${name}\n`, 'm'));
  });

  it.each([
    ['publint', '0.3.25', 'src/cli.js', ['--strict']],
    ['@arethetypeswrong/cli', '0.18.5', 'dist/index.js', ['--pack', '--profile', 'esm-only']],
  ])('has no finding of %s', async (name, version, program, options) => {
    const tool = join(await fetchPackage(name, version), program);
    const { stdout } = await promisify(execFile)(process.execPath, [tool, ...options, built]);
    expect(stdout).toMatch(/All good!|No problems found|🟢/);
  });

  it('is the service without arguments, and the client with a link', async () => {
    const program = join(project, 'node_modules/.bin/reelay');
    const service = start({ ...env, DATA_DIR: 'data' }, [program]);
    const baseUrl = await service.baseUrl();
    await service.line(/^Ready: /);
    await expectToServe(baseUrl);
    const link = origin.url('/files/clip.mp4');
    const client = ['--offline', 'reelay', link, '--quiet', '--instance', baseUrl];
    expect(await runCommand('npx', client, project)).toBe('clip.mp4\n');
    service.process.kill('SIGTERM');
    await service.line(/^Shutting down/);
    await service.ended;
    await expect.poll(() => fetch(baseUrl).catch(() => 'closed')).toBe('closed');
  });

  it('is a plugin for a server of one’s own, by the example in the documents', async () => {
    const file = join(project, basename(EXAMPLE));
    await cp(EXAMPLE, file);
    await symlink(join(ROOT, 'node_modules/fastify'), join(project, 'node_modules/fastify'));
    await checkTypes(project, [file], '--skipLibCheck');

    const server = start({ ...env, DATA_DIR: 'server' }, [process.execPath, file]);
    const own = JSON.parse(await server.line(/Server listening at/)).msg.replace(/^.* at /, '');
    const baseUrl = `${own}/media`;
    await expectToServe(baseUrl);
    const feed = await fetch(`${baseUrl}/api/Feed?${new URLSearchParams({ url: origin.url('/feeds/podcast.xml') })}`);
    expect(await feed.text()).toContain(`url="${baseUrl}/api/Get?`);
    expect(await (await fetch(`${own}/hello`)).json()).toEqual({ hello: 'world' });
    expect((await fetch(`${own}/api/App`)).status).toBe(404);
    const refused = await fetch(`${baseUrl}/api/App`, { method: 'DELETE' });
    expect([refused.status, Object(await refused.json()).type]).toEqual([405, expect.stringContaining('/problems/')]);
    server.process.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  });
});
