import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { securityText } from '../../core/api/documents.ts';
import { SettingError } from '../../core/config/parsers.ts';
import { linkSignerFor, signerFor } from '../../core/http/client.ts';
import { MAX_FUNCTION_BYTES, viewerRequestSource } from '../../infra/constructs/edge/viewer-request-source.ts';
import { itWith } from '../support/clients.ts';
import { createEdge, type EdgeMode, edgeSource, requestOf, runInNjs, SECURITY_CONTACTS } from '../support/edge.ts';

const KEY = 'AbCdEfGhIjKlMnOpQrStUvWxYz-_0123456';

describe.each<EdgeMode>(['balanced', 'on-demand'])('viewer request function of a private instance, %s', (mode) => {
  const ACCESS_KEY = 'a-key-of-sufficient-length';
  const HASH = createHash('sha256').update(ACCESS_KEY).digest('hex');
  const now = Date.now();
  const read = (name: string) => (name === `access-${HASH.slice(0, 12)}` ? HASH : undefined);
  const edge = createEdge(mode, read, () => now, true);
  const signed = signerFor(HASH, now)(KEY);
  const ask = (uri: string, headers = {}, method = 'GET') => edge(requestOf(uri, { headers, method }));
  const bearer = { authorization: `Bearer ${ACCESS_KEY}` };
  const link = 'https://site.example/a b?c=d+e';
  const LINK = new URLSearchParams({ url: link, access: linkSignerFor(HASH, now)?.(link) ?? '' }).toString();

  it.each([
    ['/api/App/requests', bearer, '/api/App/requests'],
    ['/API/fetch/getresource', { 'x-api-key': ACCESS_KEY }, '/api/Fetch/GetResource'],
    ['/api/fetch/getplayback', bearer, '/api/Fetch/GetPlayback'],
    ['/api/unknown', bearer, '/api/unknown'],
    [`/api/stream/media/${signed}`, {}, `/api/Stream/Media/${KEY}`],
    [`/api/Stream/Hls/${signed}/video.m3u8`, {}, `/api/Stream/Hls/${KEY}/video.m3u8`],
    [`/api/Stream/skipsegments/${signed}`, {}, `/api/Stream/SkipSegments/${KEY}`],
    [`/api/Stream/segments/${signed}`, {}, `/api/Stream/Segments/${KEY}`],
    [`/api/Stream/Media/${signed}`, { authorization: 'Basic dXNlcjpwYXNz' }, `/api/Stream/Media/${KEY}`],
    [`/api/Stream/Media/${signed}x`, bearer, `/api/Stream/Media/${KEY}`],
    [`/api/Stream/Media/${KEY}`, bearer, `/api/Stream/Media/${KEY}`],
    [`/api/Get?quality=720p&${LINK}`, {}, '/api/Get'],
    [`/api/feed?${LINK}&access=other`, {}, '/api/Feed'],
  ])('admits %s with %j', async (uri, headers, path) => {
    const { result, choice } = await ask(uri, { ...headers, 'x-reelay-access': 'guess' });
    expect(choice).toBeDefined();
    expect(result.uri).toBe(path);
    // The key itself stays at the edge.
    // Nor does the hash, which signs links, travel to the tasks.
    const value = path.startsWith('/api/Stream') ? HASH.slice(0, 12) : HASH;
    expect(result.headers).toEqual({ 'x-reelay-access': { value } });
  });

  it('admits a link whose parameters are not decoded', async () => {
    const request = requestOf(`/api/Get?${LINK}`);
    const querystring = { ...request.querystring, url: { value: encodeURIComponent(link) } };
    expect((await edge({ ...request, querystring })).result.headers).toMatchObject({
      'x-reelay-access': { value: HASH },
    });
  });

  it('admits the page by its cookie', async () => {
    const request = { ...requestOf('/api/App/requests'), cookies: { 'reelay-access-key': { value: ACCESS_KEY } } };
    expect((await edge(request)).result.headers).toMatchObject({ 'x-reelay-access': { value: HASH } });
  });

  it.each([
    ['/api/App', 'GET', '/api/App'],
    ['/api/App/requests', 'OPTIONS', '/api/App/requests'],
    [`/api/Stream/Media/${signed}`, 'OPTIONS', `/api/Stream/Media/${KEY}`],
  ])('admits %s by %s without a key', async (uri, method, path) => {
    const { result } = await ask(uri, {}, method);
    expect(result).toMatchObject({ uri: path });
    expect(result.headers?.['x-reelay-access']?.value).toMatch(uri === '/api/App' ? /^none$/ : /^(none|[0-9a-f]{12})$/);
  });

  it('admits a message of MCP by its key', async () => {
    const { result, choice } = await ask('/mcp', { ...bearer, 'content-length': '2' }, 'POST');
    expect([result.uri, choice]).toEqual(['/mcp', { id: 'api' }]);
    expect(result.headers).toEqual({ 'content-length': { value: '2' }, 'x-reelay-access': { value: HASH } });
  });

  it('serves the page without a key', async () => {
    const { result, choice } = await ask('/', { 'x-reelay-access': HASH });
    expect([result.uri, choice, result.headers]).toEqual(['/index.html', { id: 'page' }, {}]);
  });

  it.each<[string, Record<string, string>, number, RegExp]>([
    ['/api/App/requests', {}, 401, /private/],
    ['/swagger/v1/swagger.json', {}, 401, /private/],
    ['/mcp', {}, 401, /private/],
    ['/api/unknown', {}, 401, /private/],
    [`/api/Stream/Media/${KEY}`, { 'x-reelay-access': HASH }, 401, /private/],
    ['/api/App/requests', { authorization: 'Bearer another-key-of-length' }, 401, /access key is not valid/],
    ['/api/App/requests', { 'x-api-key': `${ACCESS_KEY},x` }, 401, /access key is not valid/],
    ['/api/App/requests', { authorization: `Bearer ${HASH}` }, 401, /access key is not valid/],
    [`/api/Stream/Media/${signed.replace(/^./, 'B')}`, {}, 403, /not valid/],
    [`/api/Stream/Media/${signed}x`, {}, 403, /not valid/],
    [`/api/Get?${LINK.replace('site', 'other')}`, {}, 403, /not valid/],
    ['/api/Get?url=https%3A%2F%2Fsite.example&access=', {}, 401, /private/],
    ['/api/Feed?url=%E0&access=a.b.c', {}, 403, /not valid/],
    [`/api/App/requests?${LINK}`, {}, 401, /private/],
    [`/api/Stream/Media/${signerFor('0'.repeat(64), now)(KEY)}`, {}, 403, /not valid/],
    [`/api/Stream/Media/${signerFor(HASH, now - 26 * 3_600_000)(KEY)}`, {}, 403, /expired/],
  ])('answers %s with %j by %d', async (uri, headers, statusCode, detail) => {
    const { result, choice } = await ask(uri, { ...headers, origin: 'https://page.example' });
    expect(choice).toBeUndefined();
    expect(result).toMatchObject({
      statusCode,
      headers: { 'access-control-allow-origin': { value: 'https://page.example' } },
    });
    expect(JSON.parse(result.body ?? '')).toMatchObject({ status: statusCode, detail: expect.stringMatching(detail) });
    expect(result.headers?.['www-authenticate']?.value.startsWith('Bearer realm="Reelay"') ?? false).toBe(
      statusCode === 401,
    );
  });

  it.each([
    ['/problems/bot-check', '/problems/bot-check.html'],
    ['/problems/bot-check/a', '/problems/bot-check/a'],
  ])('sends %s to the page without a key, as %s', async (uri, path) =>
    expect(await ask(uri)).toMatchObject({ result: { uri: path }, choice: { id: 'page' } }),
  );

  it('sends the contact for vulnerabilities without a key, as one machine does', async () => {
    const { result, choice } = await ask('/.well-known/security.txt');
    expect(choice).toBeUndefined();
    expect(result).toMatchObject({ statusCode: 200, body: securityText(SECURITY_CONTACTS, now) });
    expect(result.headers?.['content-type']?.value).toBe('text/plain; charset=utf-8');
  });

  it('has nothing of another instance in it, and fits in a function', () => {
    expect(Buffer.byteLength(edgeSource(mode, true))).toBeLessThan(MAX_FUNCTION_BYTES);
    expect(Buffer.byteLength(edgeSource(mode))).toBeLessThan(MAX_FUNCTION_BYTES);
    expect(edgeSource(mode)).not.toMatch(/admit|security|__/);
    expect(edgeSource(mode, true)).not.toMatch(/__/);
  });

  it('is refused at synthesis where settings make it longer than a function may be', () => {
    const corsAllowedOrigins = Array.from({ length: 90 }, (_, index) => `https://page-${index}.of-some-site.example`);
    const options = { mode, access: { corsAllowedOrigins }, securityContacts: SECURITY_CONTACTS };
    expect(() => viewerRequestSource(options)).toThrow(SettingError);
    expect(() => viewerRequestSource(options)).toThrow(
      /^corsAllowedOrigins and securityContact make .* bytes too long/,
    );
    const contact = `mailto:${'s'.repeat(1500)}@a.example`;
    const open = viewerRequestSource({ mode, securityContacts: [contact] });
    expect(open).toContain(contact);
    expect(Buffer.byteLength(open)).toBeLessThanOrEqual(MAX_FUNCTION_BYTES);
  });

  itWith('njs')('does in the dialect of its runtime what it does here', async () => {
    const requests = [
      requestOf('/api/App/requests', { headers: bearer }),
      requestOf('/api/App/requests'),
      requestOf(`/api/Stream/Media/${signed}`),
      requestOf(`/api/Stream/Media/${signed}x`),
      requestOf('/api/App'),
    ];
    // The store of this run has one value for every key.
    const cases = requests.map((request) => ({ request, lease: HASH }));
    const expected = await Promise.all(
      requests.map((request) => createEdge(mode, () => HASH, Date.now, true)(request)),
    );
    const contact = { request: requestOf('/.well-known/security.txt') };
    const outcomes = await runInNjs(mode, [...cases, contact], true);
    expect(outcomes.at(-1)?.result.body).toMatch(
      /^Contact: mailto:.*\nContact: https:.*\nExpires: \d{4}-\d\d-\d\dT.*Z\n$/,
    );
    expect(outcomes.slice(0, -1)).toEqual(JSON.parse(JSON.stringify(expected)));
  });
});
