import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashAccessKey } from '../../core/config/file-settings.ts';
import { streamLinks } from '../../scripts/verify/sites.ts';
import { createPacedRequests } from '../contract/paced-requests.ts';
import { useTarget } from '../contract/target.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { listen } from '../support/listen.ts';
import { NODE_ENVIRONMENT } from '../support/node-environment.ts';
import { sendRequest } from '../support/request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const target = useTarget();
const ROOT = join(import.meta.dirname, '../..');

/** An answer that replaces the instance's; undefined passes the request on. */
type Fault = (request: IncomingMessage, response: ServerResponse, path: string) => boolean | undefined;

/** The instance behind a proxy that answers some requests wrongly. @returns its base URL */
async function startBroken(fault: Fault): Promise<string> {
  const broken = createServer(async (request, response) => {
    const path = request.url ?? '/';
    if (fault(request, response, path)) return;
    const { host: _, connection: __, ...headers } = request.headers;
    const answer = await sendRequest(target.baseUrl + path, {
      method: request.method,
      headers: headers as Record<string, string>,
    });
    const { connection: ___, 'transfer-encoding': ____, ...sent } = answer.headers;
    response.writeHead(answer.status, sent).end(answer.body);
  });
  return closeAfterwards(await listen(broken)).url;
}

const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) => {
  const common = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  response.writeHead(status, { ...common, ...headers }).end(JSON.stringify(body));
  return true;
};

const run = (script: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  new Promise<{ code: unknown; out: string; error: string }>((done) => {
    const options = { env: { ...NODE_ENVIRONMENT, NO_COLOR: '1', ...env }, maxBuffer: 16 * 1024 * 1024 };
    execFile(process.execPath, [join(ROOT, 'scripts', script, 'main.ts'), ...args], options, (failure, out, error) =>
      done({ code: failure?.code ?? 0, out, error }),
    );
  });
const verify = (...args: readonly string[]) => run('verify', args);
/** The tests that failed, without their folder. */
const failuresOf = (output: string) =>
  [...output.matchAll(/^ FAIL .*?test\/contract\/(.*)$/gm)].map(([, name]) => name);

describe('npm run verify', () => {
  it('finds no fault with the service, and streams each link of a file', async () => {
    const { origin, baseUrl } = target;
    const links = ['/files/clip.mp4', '/site/open/verify'].flatMap((path) => ['--link', origin.url(path)]);
    const list = join(await temporaryFolder(), 'links.txt');
    await writeFile(list, origin.url('/files/tone.mp3'));
    const { code, out, error } = await verify(baseUrl, ...links, '--links', list);
    expect(failuresOf(error), out).toEqual([]);
    expect(out).toContain(`link ${links[1]}`);
    expect(out).toMatch(/^ok +127\.0\.0\.1 +1 of 1 streamed, in /m);
    expect(code).toBe(0);
  });

  it('reports every fault of an instance, and nothing else', async () => {
    const faults: Readonly<Record<string, Fault>> = {
      'http.test.ts > paths > do not include /api/Fetch': (_, response, path) => {
        if (path !== '/api/Fetch') return undefined;
        response.writeHead(404, { 'content-type': 'text/html' }).end('<html>');
        return true;
      },
      'http.test.ts > methods > other methods than GET of /api/App are answered with 405': (
        { method },
        response,
        path,
      ) => method === 'DELETE' && path === '/api/App' && json(response, 200, {}),
      'app.test.ts > GET /api/App/requests > is a badge for shields.io, with exactly its four keys': (
        { method, headers },
        response,
        path,
      ) =>
        path === '/api/App/requests' &&
        method === 'GET' &&
        headers.accept === undefined &&
        json(
          response,
          200,
          { schemaVersion: 1, label: 'requests', message: '0', color: 1 },
          { 'x-request-count': '0', vary: 'accept' },
        ),
      'failures.test.ts > private addresses > http://169.254.169.254/latest/meta-data/ is never requested': (
        _,
        response,
        path,
      ) => path.includes('169.254.169.254') && json(response, 200, { type: 'Media', mediaItems: [] }),
      'instance.test.ts > page > has a script that is cached forever': () => undefined,
      'instance.test.ts > page > has a content security policy': (_, response, path) => {
        if (path !== '/') return undefined;
        response.writeHead(200, { 'content-type': 'text/html' });
        const send = () => response.destroyed || response.write(Buffer.alloc(65_536), send);
        send();
        return true;
      },
    };
    const link = target.origin.url('/files/clip.mp4');
    const ofLink: Readonly<Record<string, Fault>> = {
      'is answered by /api/Fetch/GetDetails with 200, or is a list': (request, _, path) => {
        if (!path.startsWith('/api/Fetch/GetDetails?')) return undefined;
        request.socket.destroy();
        return true;
      },
      // A range that begins one byte late.
      'streams a file by exact ranges': ({ headers }, _, path) => {
        if (!path.includes('format')) headers.range = headers.range?.replace(/bytes=0-/, 'bytes=1-');
        return undefined;
      },
      // Ignored ranges.
      'streams the MP3 conversion by exact ranges': ({ headers }, _, path) => {
        if (path.includes('format=mp3')) delete headers.range;
        return undefined;
      },
    };
    const all = [...Object.values(faults), ...Object.values(ofLink)];
    const baseUrl = await startBroken((...request) => all.some((fault) => fault(...request)));
    const { code, error } = await verify(baseUrl, '--link', link);
    const expected = Object.keys(ofLink).map((title) => `instance.test.ts > link ${link} > ${title}`);
    expect(failuresOf(error).sort()).toEqual([...Object.keys(faults), ...expected].sort());
    expect(code).toBe(1);
  });

  it('finds no fault with a private instance with its access key, and exits with 2 without one', async () => {
    const { code, error } = await run('verify', [own.baseUrl], { REELAY_ACCESS_KEY: ACCESS_KEY });
    expect([failuresOf(error), code]).toEqual([[], 0]);
    const refused = await verify(own.baseUrl);
    expect(refused).toMatchObject({ code: 2, error: expect.stringMatching(/is private: set REELAY_ACCESS_KEY/) });
  });
  const ACCESS_KEY = 'a'.repeat(40);
  const own = useTarget({ settings: { accessKeys: [hashAccessKey(ACCESS_KEY)] } });

  const MAINTENANCE = { version: 'v0.1.0', isHealthy: true, environment: 'Production', maintenance: 'Fetching tools' };
  it.each([
    // It waits no longer than allowed for an instance that stays busy.
    ['1', 503, { status: 503 }, 3, /Still 503 after waiting 1 s/, 2],
    ['0', 200, MAINTENANCE, 1, /is in maintenance: Fetching tools/, 1],
  ])(
    'with --wait %s, for an instance that answers %i %j, exits with %i',
    async (wait, status, body, code, says, times) => {
      let requests = 0;
      const baseUrl = await startBroken((_, response) => {
        requests += 1;
        return json(response, status, body, { 'retry-after': '1' });
      });
      expect(await verify(baseUrl, '--wait', wait)).toMatchObject({ code, error: expect.stringMatching(says) });
      expect(requests).toBe(times);
    },
  );

  it('resolves and streams each link of a file, and names the type of a failure', async () => {
    const { origin, baseUrl } = target;
    const paths = [
      ...['/files/clip.mp4', '/hls/muxed.m3u8', '/site/open/verified'],
      ...['/files/absent.mp4', '/site/login/verified'],
    ];
    const request = createPacedRequests(baseUrl, { maxWaitMs: 60_000 });
    const streamed = await streamLinks(request, paths.map(origin.url));
    expect(streamed.map(({ failure }) => failure)).toEqual([
      undefined,
      undefined,
      undefined,
      '404 not-found',
      '415 members',
    ]);
  });

  it.each([
    [2, ['ftp://instance.example'], /^The base URL must begin with https:.*\n\nUse: npm run verify/],
    [3, ['http://127.0.0.1:9', '--wait', '0'], /^http:\/\/127\.0\.0\.1:9 does not answer: .*\n$/],
  ])('exits with %i for %j', async (status, args, message) => {
    const { code, error } = await verify(...args);
    expect(error).toMatch(message);
    expect(code).toBe(status);
  });
});
