import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { itInChromium, launchChromium } from '../support/chromium.ts';
import { itWith } from '../support/clients.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { startNginx } from '../support/nginx.ts';
import { isThere } from '../support/on-path.ts';
import { installPythonPackages } from '../support/python-packages.ts';
import { pathTo, startLocal } from './local-service.ts';

/** What lets Home Assistant and Unraid run the published image. */

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const read = (file: string) => readFile(join(ROOT, file), 'utf8');
const dockerfile = await read('Dockerfile');
const [, PORT = ''] = / PORT=(\d+)/.exec(dockerfile) ?? [];

async function readYaml(file: string) {
  const python = await installPythonPackages('yaml', 'pyyaml==6.0.3');
  const script = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))';
  const running = run(python, ['-c', script]);
  running.child.stdin?.end(await read(file));
  return JSON.parse((await running).stdout);
}

const addOn = await readYaml('homeassistant/config.yaml');

describe('the add-on for Home Assistant', () => {
  it('has keys and values that the Supervisor takes', async () => {
    expect(addOn).toEqual({
      name: expect.any(String),
      version: JSON.parse(await read('package.json')).version,
      slug: expect.stringMatching(/^[a-z0-9_-]+$/),
      description: expect.any(String),
      arch: ['amd64', 'aarch64'],
      ingress: true,
      ingress_port: Number(PORT),
      panel_title: expect.any(String),
      panel_icon: expect.stringMatching(/^mdi:[a-z-]+$/),
      panel_admin: false,
      ports: { [`${PORT}/tcp`]: null },
      ports_description: { [`${PORT}/tcp`]: expect.any(String) },
      environment: expect.any(Object),
      watchdog: `http://[HOST]:[PORT:${PORT}]/api/App`,
      timeout: expect.any(Number),
      backup: 'cold',
      backup_exclude: ['tools/*'],
    });
    expect(addOn.timeout).toBeGreaterThanOrEqual(10);
    expect(await readYaml('repository.yaml')).toEqual({ name: expect.any(String) });
  });

  it('is the only one that the Supervisor finds in the repository', async () => {
    const { stdout } = await run('git', ['ls-files'], { cwd: ROOT });
    const found = stdout
      .split('\n')
      .filter((file) => /(^|\/)config\.(ya?ml|json)$/.test(file) && !/(^|\/)\./.test(file));
    expect(found).toEqual(['homeassistant/config.yaml']);
  });

  it('has settings that trust its Supervisor alone', () => {
    const settings = { trustedProxies: 2, proxyAddresses: ['172.30.32.2'], userHeader: 'X-Remote-User-Id' };
    expect(readSettings(addOn.environment)).toMatchObject(settings);
    expect(join(readSettings({ DATA_DIR: '/data' }).toolsDir, '*')).toBe('/data/tools/*');
  });

  it('is the published image of its version, for the user that can write its data', async () => {
    const instructions = (await read('homeassistant/Dockerfile')).split('\n').filter((line) => /^[A-Z]/.test(line));
    const from = expect.stringMatching(/^FROM ghcr\.io\/\w+\/reelay:v\$\{BUILD_VERSION\}$/);
    expect(instructions).toEqual(['ARG BUILD_VERSION', from, 'USER 0:0']);
  });
});

describe('the page within Home Assistant', () => {
  const TOKEN = '/api/hassio_ingress/a-token';
  const SUPERVISOR = '127.0.0.2';
  const elsewhere = closeAfterwards(new Agent({ pipelining: 0 }));
  let local: Awaited<ReturnType<typeof startLocal>>;
  let host = '';
  beforeAll(async () => {
    const text = JSON.stringify(addOn.environment).replace('172.30.32.2', SUPERVISOR);
    local = await startLocal({ hasPage: true, settings: JSON.parse(text) });
    await vi.waitUntil(async () => (await fetch(local.service.baseUrl)).ok, { timeout: 110_000 });
    if (!isThere('nginx')) return;
    // In the place of Home Assistant and its Supervisor.
    const { host: upstream } = new URL(local.service.baseUrl);
    const server = `
      location = / { default_type text/html; return 200 '<iframe src="${TOKEN}/" width=1000 height=800></iframe>'; }
      location ${TOKEN}/ {
        proxy_pass http://${upstream}/;
        proxy_bind ${SUPERVISOR};
        proxy_set_header Host $http_host;
        proxy_set_header X-Ingress-Path ${TOKEN};
        proxy_set_header X-Remote-User-Id user;
        proxy_set_header X-Forwarded-For "$remote_addr, 172.30.32.1";
      }`;
    host = (await startNginx(async () => ({ server }))).host;
  });

  const itBehindNginx = isThere('nginx') ? itInChromium : itWith('nginx');
  itBehindNginx('loads in a frame below its path, resolves a link and plays it', async () => {
    const browser = closeAfterwards(await launchChromium());
    const page = await browser.newPage();
    const outside: string[] = [];
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (pathname !== '/' && (!pathname.startsWith(`${TOKEN}/`) || response.status() >= 400))
        outside.push(`${response.status()} ${pathname}`);
    });
    await page.goto(`http://${host}/`);
    const frame = page.frameLocator('iframe');
    await frame.locator('input[name=url]').fill(local.origin.url('/files/clip.mp4'));
    await page.keyboard.press('Enter');
    await frame.getByRole('article').waitFor();
    await frame.getByRole('button', { name: 'Play', exact: true }).click();
    await expect
      .poll(
        () =>
          frame
            .locator('video')
            .evaluate((video) => (video as unknown as { readonly currentTime: number }).currentTime),
        {
          timeout: 30_000,
        },
      )
      .toBeGreaterThan(0);
    expect(outside).toEqual([]);
  });

  it('is no other page for a client that claims the path itself', async () => {
    const get = async (path: string, headers: Record<string, string>) => {
      const answer = await request(local.service.baseUrl + path, { dispatcher: elsewhere, headers });
      const { date: _, ...more } = answer.headers;
      return { status: answer.statusCode, headers: more, body: await answer.body.text() };
    };
    const claimed = { 'x-ingress-path': TOKEN, 'x-remote-user-id': 'another', 'x-forwarded-for': '192.0.2.1' };
    for (const path of ['/', '/a/b/c', '/problems/drm', pathTo('Get', local.origin.url('/files/clip.mp4'))])
      expect(await get(path, claimed)).toEqual(await get(path, {}));
  });
});

describe('the template for Unraid', () => {
  const FILE = join(ROOT, 'docs/examples/unraid.xml');
  const it = itWith('xmllint');
  const textOf = async (path: string) => (await run('xmllint', ['--xpath', `string(${path})`, FILE])).stdout.trim();

  it('has the elements of a template', async () => {
    expect(await textOf('/Container/@version')).toBe('2');
    for (const name of ['Name', 'Repository', 'Support', 'Project', 'Overview', 'Category', 'Icon', 'TemplateURL'])
      expect(await textOf(`/Container/${name}`)).not.toBe('');
    expect(await textOf('/Container/Privileged')).toBe('false');
    for (const [name, file] of [
      ['Icon', 'web/public/icon-192.png'],
      ['TemplateURL', 'docs/examples/unraid.xml'],
    ] as const) {
      expect(await textOf(`/Container/${name}`)).toMatch(new RegExp(`/${file}$`));
      await readFile(join(ROOT, file));
    }
  });

  it('opens the port and keeps the volume of the image, with settings that there are', async () => {
    expect(await textOf('/Container/WebUI')).toBe(`http://[IP]:[PORT:${PORT}]/`);
    expect(await textOf('//Config[@Type="Port"]/@Target')).toBe(PORT);
    expect(dockerfile).toContain(`VOLUME ["${await textOf('//Config[@Type="Path"]/@Target')}"]`);
    const variables = (await run('xmllint', ['--xpath', '//Config[@Type="Variable"]/@Target', FILE])).stdout;
    const names = [...variables.matchAll(/"(\w+)"/g)].map(([, name = '']) => name);
    expect(names).toEqual(['ACCESS_KEYS', 'OUTGOING_PROXIES']);
    expect(await textOf('count(//Config[@Type="Variable" and @Mask!="true"])')).toBe('0');
    const values = { ACCESS_KEYS: 'a-key-of-16-characters', OUTGOING_PROXIES: 'http://proxy.example' };
    expect(Object.keys(values)).toEqual(names);
    expect(readSettings(values)).toMatchObject({ accessKeys: [{}], outgoingProxies: ['http://proxy.example'] });
  });
});
