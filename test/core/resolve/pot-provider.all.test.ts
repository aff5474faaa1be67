import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ytDlpPlugins } from '../../../core/config/file-settings.ts';
import { PLUGIN_DIR } from '../../contract/target-settings.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startResolver } from './start-resolver.ts';

/** The version of the plugin, and of the server that it expects. */
const VERSION = '2.0.2';
const folder = join(await temporaryFolder(), 'plugins');
// As an operator installs it: the archive of the package in the folder of plugins.
const requirements = fileURLToPath(new URL('pot-provider.requirements.txt', import.meta.url));
const download = ['download', '--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes'];
await promisify(execFile)('python3', ['-m', 'pip', ...download, '--dest', folder, '--requirement', requirements]);

interface TokenRequest {
  readonly content_binding: string;
  readonly proxy: string;
}
/** The protocol of the provider's server. */
const paths: string[] = [];
let received: TokenRequest | undefined;
let refusals: string[] = [];
const server = createServer(async (request, response) => {
  paths.push(`${request.method} ${request.url}`);
  const reply = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  if (request.url === '/ping') return void reply({ version: VERSION, server_uptime: 1 });
  received = (await json(request)) as TokenRequest;
  // The server asks YouTube through the proxy that it is given, while yt-dlp waits.
  refusals = await Promise.all(
    ['http://10.1.2.3/', `http://127.0.0.1:${port}/`].map((url) => statusThrough(received?.proxy ?? '', url)),
  );
  reply({ poToken: tokenOf(received.content_binding) });
});
const { port } = closeAfterwards(await listen(server));

// Without padding, which yt-dlp refuses: a multiple of three bytes.
const tokenOf = (binding: string) => Buffer.from(`tokens for ${binding}`).toString('base64url');
const statusThrough = async (proxy: string, url: string) => {
  const options = ['--silent', '--output', '/dev/null', '--write-out', '%{http_code}', '--proxy', proxy];
  const { stdout } = await promisify(execFile)('curl', [...options, url]);
  return stdout;
};

const { single } = await startResolver({
  pluginDirs: [PLUGIN_DIR],
  ytDlpPlugins: ytDlpPlugins('YT_DLP_PLUGINS', folder),
  ytDlpExtractorArgs: [`youtubepot-bgutilhttp:base_url=http://127.0.0.1:${port}`],
});

it('is in compose.yaml in the version that is tested', async () => {
  const compose = await readFile('compose.yaml', 'utf8');
  const pinned = (await readFile(requirements, 'utf8')).replaceAll(/\s*\\\n\s*/g, ' ').trim();
  expect(compose).toContain(`${pinned}\n`);
  expect(compose).toContain(`image: brainicism/bgutil-ytdlp-pot-provider:${VERSION}\n`);
});

it('gets a PO token from the provider of an operator, whose own requests stay behind the egress guard', async () => {
  expect((await single('/pot/visitor')).title).toBe(`token ${tokenOf('visitor')}`);
  expect(paths).toEqual(['GET /ping', 'POST /get_pot']);
  expect(received?.proxy).toMatch(/^http:\/\/[^@]+@127\.0\.0\.1:\d+$/);
  expect(refusals).toEqual(['403', '403']);
});
