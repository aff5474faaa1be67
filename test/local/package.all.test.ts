import { execFile } from 'node:child_process';
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPackage } from '../../scripts/build-package.ts';
import { packTarball, runCommand } from '../../scripts/command-line.ts';
import type { Template } from '../infra/permissions.ts';
import { resourcesOfType } from '../infra/template.ts';
import { startOrigin } from '../origin/server.ts';
import { checkTypes } from '../support/check-types.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { createEdgeOf, requestOf } from '../support/edge.ts';
import { MESSAGE_HEADERS, messageOf } from '../support/mcp-client.ts';
import { fetchPackage } from '../support/programs.ts';
import { useStarted } from '../support/started.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const EXAMPLES = join(ROOT, 'docs/examples');
const origin = closeAfterwards(await startOrigin());
/** An empty project that has installed the package. */
let project = '';
let built = '';
let env: NodeJS.ProcessEnv;
const start = useStarted(await temporaryFolder());

beforeAll(async () => {
  const folder = await temporaryFolder();
  built = await buildPackage({ target: join(folder, 'built') });
  project = await temporaryFolder();
  const tarball = await packTarball(built, folder, 'reelay.tgz');
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
  const flags = ['--offline', '--no-audit', '--no-fund'];
  await runCommand('npm', ['install', ...flags, tarball], project);
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
  for (const [file, type] of [
    ['favicon.ico', 'image/x-icon'],
    ['robots.txt', 'text/plain; charset=utf-8'],
    ['problems.css', 'text/css; charset=utf-8'],
  ] as const) {
    const { status, headers } = await fetch(`${baseUrl}/${file}`);
    expect([status, headers.get('content-type')], file).toEqual([200, type]);
  }
  const whole = await fetch(`${baseUrl}/api/Get?${query}`);
  const expected = await readFile(join(origin.mediaDir, 'clip.mp4'));
  expect([whole.status, Buffer.from(await whole.arrayBuffer()).equals(expected)]).toEqual([200, true]);
  const sent = { method: 'POST', headers: MESSAGE_HEADERS, body: messageOf('tools/list') };
  const tools = await fetch(`${baseUrl}/mcp`, sent);
  expect([tools.status, await tools.text()]).toEqual([200, expect.stringContaining('"tools"')]);
}

/** Copies an example of the documents into the project, with packages that npm would install, and checks its types. */
async function takeExample(name: string, ...packages: readonly string[]): Promise<string> {
  const file = join(project, name);
  await cp(join(EXAMPLES, name), file);
  for (const each of packages) await symlink(join(ROOT, 'node_modules', each), join(project, 'node_modules', each));
  await checkTypes(project, [file], '--skipLibCheck');
  return file;
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
    const contained = ['fastify', 'undici', 'preact', 'mediabunny', 'hls.js', 'cdk-nag', '@cdklabs/deploy-time-build'];
    for (const name of [...contained, '@aws-sdk/client-dynamodb'])
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
    const file = await takeExample('reelay-in-a-server.ts', 'fastify');
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

  it('is a construct for a CDK app of one’s own, by the example in the documents', async () => {
    const [site] = await synthesize(await takeExample('reelay-in-a-stack.ts', 'aws-cdk-lib', 'constructs'));
    expect(Object.keys(site?.template.Outputs ?? {})).toContain('MediaUrl');
  });

  it('has all that a deployment of any profile needs', async () => {
    const file = await write('app.ts', APP);
    await checkTypes(project, [file], '--skipLibCheck');
    const stacks = await synthesize(file);
    expect(stacks.map(({ name }) => name)).toEqual(['built', 'hobby', 'public', 'team']);
    for (const { name, template, assets } of stacks) {
      expect(resourcesOfType(template, 'AWS::CloudFront::Distribution')).toHaveLength(1);
      expect(resourcesOfType(template, 'AWS::WAFv2::WebACL')).toHaveLength(name === 'public' ? 1 : 0);
      // The resolver, the page, and the image of the stream service.
      for (const files of [
        ['index.mjs', 'mcp-messages.mjs', 'plugins'],
        ['assets', 'index.html'],
        ['Dockerfile', 'ffmpeg.txt', 'main.mjs', 'strip-elf.ts'],
      ])
        expect(assets).toContainEqual(expect.arrayContaining(files));
    }
    const [inTheAccount, hobby] = stacks;
    // The function that starts the build.
    expect(inTheAccount?.assets).toContainEqual(['index.js']);
    const edge = createEdgeOf(viewerRequestOf(hobby), () => undefined);
    expect((await edge(requestOf('/'))).choice).toEqual({ id: 'page' });
    expect((await edge(requestOf('/api/Get?url=x'))).result.statusCode).toBe(401);
  });

  it('deploys the image of its release where that has one', async () => {
    const streamImage = `registry.example/reelay-stream@sha256:${'a'.repeat(64)}`;
    await writeFile(join(project, 'node_modules/reelay/infra/defaults.json'), JSON.stringify({ streamImage }));
    const [builtHere, hobby] = await synthesize(await write('app.ts', APP));
    expect(JSON.stringify(hobby?.template)).toContain(streamImage);
    expect(JSON.stringify(builtHere?.template)).not.toContain(streamImage);
  });
});

/** An app with a stack of each profile, and one whose image CodeBuild builds. */
const APP = `
import { App, Stack } from 'aws-cdk-lib';
import { Reelay, type ReelayProps } from 'reelay/infra';

const accessKeysSecret = 'arn:aws:secretsmanager:us-east-1:111111111111:secret:keys-AbCdEf';
const stacks: Record<string, ReelayProps> = {
  hobby: { profile: 'hobby', idleMinutes: 5, accessKeysSecret, securityContact: ['mailto:security@site.example'] },
  team: { profile: 'team' },
  public: { profile: 'public' },
  built: { profile: 'hobby', streamImage: 'codebuild' },
};
// @ts-expect-error
export const wrong: ReelayProps = { idleMinutes: 'five' };
const app = new App();
for (const [name, props] of Object.entries(stacks))
  new Reelay(new Stack(app, name, { env: { account: '111111111111', region: 'us-east-1' } }), 'Media', { stage: name, ...props });
`;

const write = async (name: string, text: string): Promise<string> => {
  await writeFile(join(project, name), text);
  return join(project, name);
};

interface SynthesizedStack {
  readonly name: string;
  readonly template: Template & { readonly Outputs?: object };
  /** The names of the files of each asset that is a folder. */
  readonly assets: readonly (readonly string[])[];
}

/** Runs a CDK app without credentials and without any program that builds. @returns its stacks by name */
async function synthesize(app: string): Promise<SynthesizedStack[]> {
  const outdir = await temporaryFolder();
  const environment = { CDK_OUTDIR: outdir, PATH: '/nowhere' };
  await promisify(execFile)(process.execPath, [app], { cwd: project, env: environment });
  const read = async (name: string) => JSON.parse(await readFile(join(outdir, name), 'utf8'));
  const names = (await readdir(outdir)).flatMap((file) => /^(.*)\.template\.json$/.exec(file)?.[1] ?? []);
  return Promise.all(
    names.toSorted().map(async (name) => {
      const { files, dockerImages } = await read(`${name}.assets.json`);
      const sources = [...Object.values(files), ...Object.values(dockerImages)] as { source: Record<string, string> }[];
      const folders = sources.flatMap(({ source: { packaging = 'zip', path, directory } }) =>
        packaging === 'zip' ? [directory ?? path ?? ''] : [],
      );
      const assets = await Promise.all(folders.map((folder) => readdir(join(outdir, folder)).catch(() => [])));
      return { name, template: await read(`${name}.template.json`), assets };
    }),
  );
}

function viewerRequestOf(stack: SynthesizedStack | undefined): string {
  const found = resourcesOfType((stack as SynthesizedStack).template, 'AWS::CloudFront::Function');
  const [code] = found
    .map(({ properties }) => String(properties.FunctionCode))
    .filter((text) => text.includes('cf.kvs'));
  return code ?? '';
}
