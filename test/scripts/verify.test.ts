import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { hashAccessKey } from '../../core/config/access-keys.ts';
import { Unreachable, type Verification, verify } from '../../scripts/verify/verify.ts';
import { useTarget } from '../contract/target.ts';
import { NODE_ENVIRONMENT } from '../support/node-environment.ts';
import { sendRequest } from '../support/request.ts';

const target = useTarget();
const ROOT = join(import.meta.dirname, '../..');

/** An answer that replaces the instance's; undefined passes the request on. */
type Fault = (request: IncomingMessage, response: ServerResponse, path: string) => boolean | undefined;

let broken: Server | undefined;
afterEach(async () => {
  broken?.closeAllConnections();
  await new Promise((done) => (broken ? broken.close(done) : done(undefined)));
  broken = undefined;
});

/** The instance behind a proxy that answers some requests wrongly. @returns its base URL */
async function startBroken(fault: Fault): Promise<string> {
  broken = createServer(async (request, response) => {
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
  await new Promise<void>((done) => broken?.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
}

const failedOf = ({ results }: Verification) =>
  results.flatMap(({ outcome, title }) => (outcome === 'failed' ? [title] : []));
const links = () => [target.origin.url('/files/clip.mp4')];
const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) => {
  const common = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  response.writeHead(status, { ...common, ...headers }).end(JSON.stringify(body));
  return true;
};

describe('verify', () => {
  it('finds no fault with the service, within its bounds', async () => {
    const pairs = target.origin.url('/site/open/verify');
    const verification = await verify({ baseUrl: target.baseUrl, links: [...links(), pairs], maxWaitMs: 60_000 });
    expect(failedOf(verification)).toEqual([]);
    expect(verification.results.filter(({ outcome }) => outcome === 'ok').length).toBeGreaterThan(25);
    expect(verification.requests).toBeLessThan(200);
    expect(verification.bytes).toBeLessThan(16_000_000);
  });

  it('skips streams without a link', async () => {
    const { results } = await verify({ baseUrl: target.baseUrl, links: [], maxWaitMs: 60_000 });
    expect(results.at(-1)).toMatchObject({ group: 'links', outcome: 'skipped' });
  });

  it('resolves and streams the links of each site, and names the type of a failure', async () => {
    const { origin, baseUrl } = target;
    const good = [origin.url('/files/clip.mp4'), origin.url('/hls/muxed.m3u8'), origin.url('/site/open/verified')];
    const sites = new Map([
      ['good.example', good],
      ['bad.example', [origin.url('/files/absent.mp4'), origin.url('/site/login/verified')]],
    ]);
    const { results } = await verify({ baseUrl, links: [], sites, maxWaitMs: 60_000 });
    const outcomes = (site: string) =>
      results.flatMap(({ group, outcome, detail }) => (group === site ? [detail ?? outcome] : []));
    expect(outcomes('good.example')).toEqual(['ok', 'ok', 'ok']);
    expect(outcomes('bad.example')).toEqual(['404 not-found', '415 members']);
  });

  it('reports every fault of an instance, and nothing else', async () => {
    const faults: Readonly<Record<string, Fault>> = {
      'answers 404 for unknown paths, malformed and long ones included': (_, response, path) => {
        if (path !== '/api/New') return undefined;
        response.writeHead(404, { 'content-type': 'text/html' }).end('<html>');
        return true;
      },
      'answers 405 for methods that an operation does not have': ({ method }, response) =>
        method === 'DELETE' && json(response, 200, {}),
      'lets only allowed origins read responses, and never with credentials': ({ headers, method }, response) =>
        headers.origin !== undefined &&
        method === 'GET' &&
        json(response, 200, {}, { 'access-control-allow-credentials': 'true', 'access-control-allow-origin': '*' }),
      'never requests private, loopback and metadata addresses': (_, response, path) =>
        path.includes('169.254.169.254') && json(response, 200, { type: 'Media', mediaItems: [] }),
      'serves the page and its status page, with a content security policy': (_, response, path) => {
        if (path !== '/status') return undefined;
        response.writeHead(200, { 'content-type': 'text/html' });
        const send = () => response.destroyed || response.write(Buffer.alloc(65_536), send);
        send();
        return true;
      },
      'has details of the link': (request, _, path) => {
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
    const baseUrl = await startBroken((...request) => Object.values(faults).some((fault) => fault(...request)));
    const verification = await verify({ baseUrl, links: links(), maxWaitMs: 60_000 });
    expect(failedOf(verification).sort()).toEqual(Object.keys(faults).sort());
    expect(verification.bytes).toBeLessThan(64_000_000);
  });

  it('reports a field of the wrong type', async () => {
    const baseUrl = await startBroken(
      (_, response, path) =>
        path === '/api/App' && json(response, 200, { version: 1, isHealthy: true, environment: '' }),
    );
    const { results } = await verify({ baseUrl, links: [], maxWaitMs: 60_000, limits: { maxRequests: 4 } });
    expect(results[0]).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('version') });
  });

  it('waits no longer than allowed for an instance that stays busy, and then sends nothing more', async () => {
    let requests = 0;
    const baseUrl = await startBroken((_, response, path) => {
      requests += 1;
      return path !== '/api/App' && json(response, 503, { status: 503 }, { 'retry-after': '1' });
    });
    const { results } = await verify({ baseUrl, links: [], maxWaitMs: 1_000 });
    const failed = results.findIndex(({ outcome }) => outcome === 'failed');
    expect(results[failed]?.detail).toMatch(/^Still 503 after waiting 1 s/);
    for (const { outcome } of results.slice(failed + 1)) expect(outcome).toBe('skipped');
    expect(requests).toBeLessThan(10);
  });

  it('reports maintenance that does not end', async () => {
    const info = { version: 'v0.1.0', isHealthy: true, environment: 'Production', maintenance: 'Fetching tools' };
    const baseUrl = await startBroken((_, response, path) => path === '/api/App' && json(response, 200, info));
    const { results } = await verify({ baseUrl, links: [], maxWaitMs: 10, limits: { maxRequests: 50 } });
    expect(results[0]).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('maintenance') });
  });

  it('sends no more requests than allowed', async () => {
    const { results, requests } = await verify({
      ...{ baseUrl: target.baseUrl, links: [], maxWaitMs: 60_000 },
      limits: { maxRequests: 12 },
    });
    expect(requests).toBe(12);
    expect(results.at(-2)).toMatchObject({ outcome: 'skipped', detail: 'More than 12 requests' });
  });

  it('rejects when nothing answers', async () => {
    const unused = await startBroken(() => undefined);
    await new Promise((done) => broken?.close(done));
    broken = undefined;
    await expect(verify({ baseUrl: unused, links: [], maxWaitMs: 0 })).rejects.toThrow(Unreachable);
  });
});

describe('verify of a private instance', () => {
  const ACCESS_KEY = 'a'.repeat(40);
  const own = useTarget({ settings: { accessKeys: [hashAccessKey(ACCESS_KEY)] } });

  it('finds no fault with an access key, and reports that one is missing', async () => {
    const input = { baseUrl: own.baseUrl, links: [own.origin.url('/files/clip.mp4')], maxWaitMs: 60_000 };
    expect(failedOf(await verify({ ...input, accessKey: ACCESS_KEY }))).toEqual([]);
    await expect(verify(input)).rejects.toThrow(/is private: set REELAY_ACCESS_KEY/);
  });
});

describe('npm run verify', () => {
  const run = (...args: string[]) =>
    new Promise<{ code: unknown; out: string; error: string }>((done) => {
      execFile(process.execPath, [join(ROOT, 'scripts/verify/main.ts'), ...args], (failure, out, error) =>
        done({ code: failure?.code ?? 0, out, error }),
      );
    });

  it('prints a report and exits with 0 when everything holds', async () => {
    const { code, out } = await run(target.baseUrl, '--link', target.origin.url('/files/tone.mp3'));
    expect(out).not.toContain('FAILED');
    expect(out).toMatch(/^Verifying http:[\s\S]*\ninstance\n {2}ok [\s\S]*\d+ ok, 0 failed, \d+ skipped: \d+ requests/);
    expect(code).toBe(0);
  });

  it('exits with 1 and the reason when something does not', async () => {
    const baseUrl = await startBroken((_, response, path) => path === '/status' && json(response, 404, {}));
    const { code, out } = await run(baseUrl, '--json');
    const { results } = JSON.parse(out) as Verification;
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([
      expect.objectContaining({ group: 'page', detail: 'GET /status: expected 200, received 404 {}' }),
    ]);
    expect(code).toBe(1);
  });

  it.each([
    [2, ['ftp://instance.example'], /^The base URL must begin with https:.*\n\nUse: npm run verify/],
    [3, ['http://127.0.0.1:9', '--wait', '0'], /^http:\/\/127\.0\.0\.1:9 does not answer: .*\n$/],
  ])('exits with %i for %j', async (status, args, message) => {
    const { code, error } = await run(...args);
    expect(error).toMatch(message);
    expect(code).toBe(status);
  });
});

describe('npm run prove-deployment', () => {
  const run = (...args: string[]) =>
    new Promise<{ code: unknown; out: string; error: string }>((done) => {
      const main = join(ROOT, 'scripts/prove-deployment/main.ts');
      const options = { env: { ...NODE_ENVIRONMENT, HOME: '/nonexistent' } };
      execFile(process.execPath, [main, ...args], options, (failure, out, error) =>
        done({ code: failure?.code ?? 0, out, error }),
      );
    });

  it('prints its steps for a dry run, without credentials', async () => {
    const { code, out } = await run('--dry-run', '--stage', 'proof', '--profiles', 'hobby,public');
    expect(out).toMatch(/^Would prove the stage proof:\n 1\. Deploy the profile hobby/);
    expect(out).toContain('Change the profile from hobby to public');
    expect(code).toBe(0);
  });

  it('exits with 2 without an account', async () => {
    const { code, error } = await run();
    expect(error).toMatch(/^Name the throw-away account with --account/);
    expect(code).toBe(2);
  });
});
