import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { closeAfterwards } from '../../../test/support/close-afterwards.ts';
import { listen } from '../../../test/support/listen.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { zip } from '../../../test/yt-dlp-worker/zip.ts';
import { createTools } from '../src/install/create-tools.ts';
import { silentLog } from '../src/tools.ts';
import { pythonForYtDlp, ytDlpFromPypi } from '../src/yt-dlp/providers.ts';
import { type Flaw, testProvider } from './provider-events.ts';

const dir = await temporaryFolder();
const { signal } = new AbortController();

interface Wheel {
  readonly content: Buffer;
  readonly requiresPython: string;
  /** Part of its link. */
  readonly hash: string;
  readonly send: (response: ServerResponse, content: Buffer) => unknown;
}

/** Wheels by file name, with the links that a package index has to them. */
const wheels = new Map<string, Wheel>();
let requests = 0;
const index = createServer((request, response) => {
  const [, folder, name = ''] = (request.url ?? '').split('/');
  const wheel = wheels.get(name);
  if (folder === 'wheels' && wheel) {
    if (name.startsWith('yt_dlp-')) requests += 1;
    return wheel.send(response, wheel.content);
  }
  const links = [...wheels].filter(([file]) => file.startsWith(`${name.replaceAll('-', '_')}-`));
  if (links.length === 0) return response.writeHead(404).end();
  const list = links.map(
    ([file, { requiresPython, hash }]) =>
      `<a href="/wheels/${file}#sha256=${hash}" data-requires-python="${requiresPython.replace('>', '&gt;')}">${file}</a>`,
  );
  return response.writeHead(200, { 'content-type': 'text/html' }).end(`<!DOCTYPE html><html>${list.join('\n')}</html>`);
});

/** Publishes a package of one module, whose program prints its version. @param requires dependencies of the extra `default` */
async function publish(
  name: string,
  version: string,
  requires: readonly string[] = [],
  traits: Partial<Wheel> & { readonly program?: string } = {},
) {
  const { requiresPython = '>=3', program = `print('${version}')` } = traits;
  const about = [
    ...['Metadata-Version: 2.1', `Name: ${name.replaceAll('_', '-')}`, `Version: ${version}`],
    ...[`Requires-Python: ${requiresPython}`, 'Provides-Extra: default', 'Provides-Extra: curl-cffi'],
    ...requires.map((requirement) => `Requires-Dist: ${requirement} ; extra == "default"`),
  ];
  const info = `${name}-${version}.dist-info`;
  const content = await zip(dir, [
    [`${name}/__main__.py`, program],
    [`${info}/METADATA`, `${about.join('\n')}\n`],
    [`${info}/WHEEL`, 'Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n'],
    [`${info}/RECORD`, ''],
  ]);
  const hash = createHash('sha256').update(content).digest('hex');
  const send: Wheel['send'] = (response) => response.end(content);
  wheels.set(`${name}-${version}-py3-none-any.whl`, { content, requiresPython, hash, send, ...traits });
}

const { url } = closeAfterwards(await listen(index));
const { path: python } = await pythonForYtDlp();
for (const [name, value] of Object.entries({
  // The interpreter itself: a shim takes as long to find it as pip takes to load.
  PATH: `${dirname(python)}:${process.env.PATH}`,
  PIP_INDEX_URL: `${url}/simple`,
  PIP_CONFIG_FILE: '/dev/null',
  PIP_NO_CACHE_DIR: '1',
  PIP_RETRIES: '0',
}))
  vi.stubEnv(name, value);
vi.stubEnv('PIP_FIND_LINKS', undefined);

/** Makes a version the only one. */
async function publishYtDlp(version: string, traits?: Parameters<typeof publish>[3], requires = 'yt-dlp-ejs==1.0') {
  wheels.clear();
  await publish('yt_dlp_ejs', '1.0');
  await publish('yt_dlp', version, [requires], traits);
}
const pypi = ytDlpFromPypi({ channel: 'stable' });
const sent = (send: Wheel['send'], reason: RegExp): Flaw => [(version) => publishYtDlp(version, { send }), reason];

testProvider('PyPI', {
  options: { providers: { ytDlp: [pypi] } },
  verifiedBy: 'registry',
  isSlow: true,
  publish: publishYtDlp,
  requests: () => requests,
  flaws: {
    'a bad hash': [(version) => publishYtDlp(version, { hash: '0'.repeat(64) }), /hash/i],
    'a bad signature': 'PyPI has none',
    'half of it': sent((response, content) => {
      response.writeHead(200, { 'content-length': content.length });
      response.write(content.subarray(0, 100), () => response.destroy());
    }, /error/i),
    'nothing where it is said to be': sent((response) => response.writeHead(404).end(), /Could not install/),
    'no answer': sent(() => undefined, /abort/),
    'a full disk': 'pip writes, and fails as with half of it',
    'a program that does not run': [
      (version) => publishYtDlp(version, { program: 'raise SystemExit(1)' }),
      /Command failed/,
    ],
  },
});

it.each([
  ['the dependency that is missing', 'yt-dlp-ejs==2.0', {}, /no matching distribution found for yt-dlp-ejs==2\.0/i],
  ['the Python that it requires', 'yt-dlp-ejs==1.0', { requiresPython: '>=3.99' }, /^it requires Python >=3\.99$/],
])('passes over a newer release, which is in the log with %s', async (_, requires, traits, reason) => {
  await publishYtDlp('2026.1.1');
  await publish('yt_dlp', '2026.2.2', [requires], traits);
  const warn = vi.fn();
  const tools = createTools({
    dir: `${await temporaryFolder()}/tools`,
    channel: 'stable',
    ffmpegPath: '/nonexistent',
    download: () => Promise.reject(new Error('nothing else is downloaded')),
    onActivity: () => undefined,
    smokeTest: async () => undefined,
    record: async () => undefined,
    providers: { ytDlp: [pypi] },
    log: { ...silentLog, warn },
  });
  onTestFinished(tools.close);
  await expect(tools.ensure()).rejects.toThrow('FFmpeg cannot be installed');
  expect(tools.ytDlp()?.version).toBe('2026.1.1');
  const skipped = { tool: 'yt-dlp', version: '2026.1.1', skipped: '2026.2.2', reason: expect.stringMatching(reason) };
  expect(warn.mock.calls).toEqual([['A newer release was skipped', skipped]]);
});

it('passes over no release where pip takes the newest one', async () => {
  await publishYtDlp('2026.1.1');
  expect(await pypi.findSkipped?.('2026.01.01', signal)).toBeUndefined();
});
