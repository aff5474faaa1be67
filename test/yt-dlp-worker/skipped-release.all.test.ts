import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLog } from '../../core/log/index.ts';
import { ytDlpFromPypi } from '../../packages/yt-dlp-worker/src/yt-dlp/providers.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { listen } from '../support/listen.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useToolsFakes } from './tools-fakes.ts';
import { zip } from './zip.ts';

const dir = await temporaryFolder();
const { signal } = new AbortController();
const fakes = useToolsFakes();

/** Wheels by file name, with the links that a package index has to them. */
const wheels = new Map<string, { readonly content: Buffer; readonly requiresPython: string }>();
const index = createServer((request, response) => {
  const [, folder, name = ''] = (request.url ?? '').split('/');
  const wheel = wheels.get(name);
  if (folder === 'wheels' && wheel) return response.end(wheel.content);
  const links = [...wheels].filter(([file]) => file.startsWith(`${name.replaceAll('-', '_')}-`));
  if (links.length === 0) return response.writeHead(404).end();
  const list = links.map(
    ([file, { requiresPython }]) =>
      `<a href="/wheels/${file}" data-requires-python="${requiresPython.replace('>', '&gt;')}">${file}</a>`,
  );
  return response.writeHead(200, { 'content-type': 'text/html' }).end(`<!DOCTYPE html><html>${list.join('\n')}</html>`);
});

/** Publishes a package of one module, whose program prints its version. @param requires dependencies of the extra `default` */
async function publish(name: string, version: string, requires: readonly string[] = [], requiresPython = '>=3') {
  const about = [
    ...['Metadata-Version: 2.1', `Name: ${name.replaceAll('_', '-')}`, `Version: ${version}`],
    ...[`Requires-Python: ${requiresPython}`, 'Provides-Extra: default', 'Provides-Extra: curl-cffi'],
    ...requires.map((requirement) => `Requires-Dist: ${requirement} ; extra == "default"`),
  ];
  const info = `${name}-${version}.dist-info`;
  const content = await zip(dir, [
    [`${name}/__main__.py`, `print('${version}')`],
    [`${info}/METADATA`, `${about.join('\n')}\n`],
    [`${info}/WHEEL`, 'Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n'],
    [`${info}/RECORD`, ''],
  ]);
  wheels.set(`${name}-${version}-py3-none-any.whl`, { content, requiresPython });
}

const { url: indexUrl } = closeAfterwards(await listen(index));
beforeEach(async () => {
  wheels.clear();
  vi.stubEnv('PIP_INDEX_URL', `${indexUrl}/simple`);
  vi.stubEnv('PIP_FIND_LINKS', undefined);
  vi.stubEnv('PIP_CONFIG_FILE', '/dev/null');
  await publish('yt_dlp_ejs', '1.0');
  await publish('yt_dlp', '2026.1.1', ['yt-dlp-ejs==1.0']);
});
afterEach(() => vi.unstubAllEnvs());

describe('a release that pip skips', () => {
  const pypi = ytDlpFromPypi({ channel: 'stable' });

  it('is found with the dependency that is missing', async () => {
    await publish('yt_dlp', '2026.2.2', ['yt-dlp-ejs==2.0']);
    const reason = expect.stringMatching(/no matching distribution found for yt-dlp-ejs==2\.0/i);
    expect(await pypi.findSkipped?.('2026.01.01', signal)).toEqual({ version: '2026.2.2', reason });
  });

  it('does not exist where pip takes the newest one', async () => {
    expect(await pypi.findSkipped?.('2026.01.01', signal)).toBeUndefined();
  });

  it('is in the log of an install and of each check for updates, with the Python that it requires', async () => {
    await publish('yt_dlp', '2026.2.2', ['yt-dlp-ejs==1.0'], '>=3.99');
    const warn = vi.fn();
    const tools = fakes.open([pypi], { log: { ...silentLog, warn } });
    await tools.ensure();
    expect(await readFile(tools.ytDlp()?.command.at(-1) ?? '', 'utf8')).toContain('2026.1.1');
    await tools.update();
    const skipped = {
      tool: 'yt-dlp',
      version: '2026.1.1',
      skipped: '2026.2.2',
      reason: 'it requires Python >=3.99',
    };
    expect(warn.mock.calls).toEqual(Array(2).fill(['A newer release was skipped', skipped]));
  });
});

it('goes on with an update where the search for skipped releases fails', async () => {
  const info = vi.fn();
  const findSkipped = () => Promise.reject(new Error('no connection'));
  const tools = fakes.open([{ ...fakes.ytDlpFrom('A', '1.0'), findSkipped }], { log: { ...silentLog, info } });
  await tools.ensure();
  expect(tools.ytDlp()?.version).toBe('1.0');
  expect(info).toHaveBeenCalledWith('Failed to look for skipped releases', { tool: 'yt-dlp', reason: 'no connection' });
});
