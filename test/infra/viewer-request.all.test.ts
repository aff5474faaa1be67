import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { securityText } from '../../core/api/documents.ts';
import { routes } from '../../core/api/operations.ts';
import { SettingError } from '../../core/config/parsers.ts';
import { createSignatureCheck } from '../../core/http/access-secrets.ts';
import { linkSignerFor, signerFor } from '../../core/http/client.ts';
import { chooseJsonType, prefersHtml } from '../../core/http/negotiation.ts';
import {
  MAX_FUNCTION_BYTES,
  STREAM_PARAMETERS,
  UNCACHED_PARAMETERS,
  viewerRequestSource,
} from '../../infra/constructs/edge/viewer-request-source.ts';
import { itWith } from '../support/clients.ts';
import {
  createEdge,
  createEdgeOf,
  type EdgeMode,
  edgeSource,
  requestOf,
  runInNjs,
  SECURITY_CONTACTS,
} from '../support/edge.ts';
import type { SynthesizedName } from './deployment-settings.ts';
import { behaviourOf, distribution } from './distribution.ts';
import type { Template } from './permissions.ts';
import { synthesize } from './synth.ts';
import { referencesIn } from './template.ts';

const KEY = 'AbCdEfGhIjKlMnOpQrStUvWxYz-_0123456';
const STREAM = `/api/Stream/Media/${KEY}`;
const SECRET = 'a-secret';
const ACCESS_KEY = 'a-key-of-sufficient-length';
const HASH = createHash('sha256').update(ACCESS_KEY).digest('hex');
const HOST = 'ec2-192-0-2-1.compute-1.amazonaws.com';
const now = Date.now();
const inSeconds = (seconds: number) => String(Math.floor(now / 1000) + seconds);
const registrationFor = (seconds: number, host = HOST) => `${host}|${SECRET}|${inSeconds(seconds)}`;

type Store = Readonly<Partial<Record<'host' | 'closed', string>>>;
type Headers = Readonly<Record<string, string>>;
/** A request, `METHOD /path`, and the origin and path that it goes to, or status, title and reason of the answer. */
type Row = [request: string, outcome: string, headers?: Headers, store?: Store];

const MODES: readonly EdgeMode[] = ['balanced', 'on-demand'];
const edgeOf = (mode: EdgeMode, isPrivate: boolean, store: Store = {}) =>
  createEdge(
    mode,
    (name) => (name === `access-${HASH.slice(0, 12)}` && isPrivate ? HASH : store[name as 'host']),
    () => now,
    isPrivate,
  );
const ask = (
  of: { mode?: EdgeMode; isPrivate?: boolean; store?: Store | undefined },
  request: string,
  headers: Headers = {},
) => {
  const [method = '', uri = ''] = request.split(/ (.*)/s);
  return edgeOf(of.mode ?? 'balanced', of.isPrivate ?? false, of.store)(requestOf(uri, { method, headers }));
};
type Outcome = Awaited<ReturnType<typeof ask>>;
function describeOutcome({ result, choice }: Outcome): string {
  if (choice) return `${choice.id ?? choice.update?.domainName} ${result.uri}`;
  const { title, detail = '' } = JSON.parse(result.body ?? '{}');
  const allow = result.headers?.allow?.value;
  const [reason] = /private|expired|(access key|link) is not valid/.exec(detail) ?? [];
  return [result.statusCode, allow && `(${allow})`, title, reason && `(${reason})`].filter(Boolean).join(' ');
}

const mixCase = (path: string) =>
  path.replace(/[a-z]/gi, (letter, at) => (at % 2 ? letter.toUpperCase() : letter.toLowerCase()));
const spellings = (path: string) => [path, path.toLowerCase(), mixCase(path)];
const filled = (path: string) => path.replace(/\{(key|jobid)\}/i, KEY).replace(/\{file\}/i, 'Video.m3u8');
const REFUSED = ['POST', 'PUT', 'PATCH', 'DELETE'];
const BODY = { 'content-length': '2' };
const to = (origin: string, paths: readonly string[]): Row[] =>
  paths.map((path) => [`GET ${path}`, `${origin} ${path}`]);

/** What every instance does, open or private (with a key). @param stream the origin of streams */
const rowsOf = (stream: string): readonly Row[] => [
  ...routes.flatMap(({ path, methods: [method], servedBy }) =>
    [...spellings(path), path.toUpperCase()]
      .slice(0, servedBy === 'function' ? 4 : 3)
      .map(
        (uri): Row => [`${method} ${filled(uri)}`, `${servedBy === 'function' ? 'api' : stream} ${filled(path)}`, BODY],
      ),
  ),
  ...routes.flatMap(({ path, methods }) =>
    [...REFUSED, 'HEAD']
      .filter((method) => !(methods as readonly string[]).includes(method))
      .map((method): Row => {
        const title = method === 'HEAD' ? '' : ' Method Not Allowed';
        return [`${method} ${filled(path)}`, `405 (${[...methods, 'OPTIONS'].join(', ')})${title}`];
      }),
  ),
  ...REFUSED.map((method): Row => [`${method} /api/New`, '404 Resource Not Found']),
  ...['/', '/abc', '/foo/bar', '/foo/barbaz/x.png'].flatMap((path) =>
    REFUSED.map((method): Row => [`${method} ${path}`, '405 (GET, HEAD, OPTIONS) Method Not Allowed', BODY]),
  ),
  ['GET /Swagger', 'api /swagger'],
  ['GET /SWAGGER/V1/Swagger.json', 'api /swagger/v1/swagger.json'],
  ...to('api', ['/api/New/Thing', '/api/Videos/1', '/API', '/api/App/', '/api/Stream/Media', '/api/Stream/Media/']),
  ...to('api', ['/api/Stream/Media/a/b', '/api/Stream/Hls/a', '/api/Stream/Hls/a/', '/api/Stream/Hls//b']),
  ...to('api', ['/api/Stream/Hls/a/b/c', '/api/Stream/Other/key']),
  // Like every path that is not of the API.
  ...to('page', [
    '/mcp/',
    '/abc',
    '/mcpx',
    '/problems/',
    '/problems/bot-check/a',
    '/assets/Index-1a2B.js',
    '/apis/App',
  ]),
  ...to('page', ['/abc/defghi/x.png', '/constructor', '/__proto__', '/%ZZ', '/ÄPI']),
  ['GET /', 'page /index.html'],
  ['GET /problems/bot-check', 'page /problems/bot-check.html'],
  // Bodies are billed before they are counted.
  ['POST /Mcp', 'api /mcp', { 'content-length': '65536' }],
  ['POST /mcp', '413 Content Too Large', { 'content-length': '65537' }],
  ...['much', '-1', '0x10', '1e3', ''].map(
    (length): Row => ['POST /mcp', '413 Content Too Large', { 'content-length': length }],
  ),
  ['POST /mcp', '413 Content Too Large'],
  ...['/', '/index.html', '/api/App', STREAM, '/other'].map(
    (path): Row => [`GET ${path}`, '503 Spending Limit Reached', {}, { closed: inSeconds(600) }],
  ),
  // Open again when that time has come, and without a time.
  ...[inSeconds(0), inSeconds(-600), '', 'soon'].map((closed): Row => ['GET /api/App', 'api /api/App', {}, { closed }]),
];

/** Of streams on demand: a registered task, or the wake function. */
const ON_DEMAND: readonly Row[] = [
  ...['GET', 'HEAD', 'OPTIONS'].map(
    (method): Row => [
      `${method} ${STREAM.toLowerCase().replace(KEY.toLowerCase(), KEY)}`,
      `${HOST} ${STREAM}`,
      {},
      { host: registrationFor(60) },
    ],
  ),
  ...[
    ...[registrationFor(-1), registrationFor(0), `host.example|${SECRET}|`, `host.example|${SECRET}|soon`],
    ...[
      registrationFor(60).replace(SECRET, ''),
      registrationFor(60, '192.0.2.1'),
      registrationFor(60, 'host.example:22'),
    ],
    ...[registrationFor(60, ''), 'nonsense', ''],
  ].map((host): Row => [`GET ${STREAM}`, `wake ${STREAM}`, {}, { host }]),
];

const signed = signerFor(HASH, now)(KEY);
const bearer = { authorization: `Bearer ${ACCESS_KEY}` };
const link = 'https://site.example/a b?c=d+e';
const LINK = new URLSearchParams({ url: link, access: linkSignerFor(HASH, now)?.(link) ?? '' }).toString();
const PRIVATE = '401 Unauthorized (private)';
const WRONG_KEY = '401 Unauthorized (access key is not valid)';
const FORGED = '403 Forbidden (link is not valid)';

/** Of a private instance: keys, signed keys of streams, and signed links. */
const accessRowsOf = (stream: string): readonly Row[] => [
  ['GET /API/fetch/getresource', 'api /api/Fetch/GetResource', { 'x-api-key': ACCESS_KEY }],
  ['GET /api/unknown', 'api /api/unknown', bearer],
  ...['media', 'skipsegments', 'Segments'].map((type): Row => {
    const { path = '' } =
      routes.find(({ path }) => path.toLowerCase() === `/api/stream/${type}/{key}`.toLowerCase()) ?? {};
    return [`GET /api/stream/${type}/${signed}`, `${stream} ${filled(path)}`];
  }),
  [`GET /api/Stream/Hls/${signed}/video.m3u8`, `${stream} /api/Stream/Hls/${KEY}/video.m3u8`],
  [`GET /api/Stream/Media/${signed}`, `${stream} ${STREAM}`, { authorization: 'Basic dXNlcjpwYXNz' }],
  [`GET /api/Stream/Media/${signed}x`, `${stream} ${STREAM}`, bearer],
  [`GET /api/Get?quality=720p&${LINK}`, 'api /api/Get'],
  [`GET /api/feed?${LINK}&access=other`, 'api /api/Feed'],
  ['GET /api/App', 'api /api/App'],
  ['OPTIONS /api/App/requests', 'api /api/App/requests'],
  [`OPTIONS /api/Stream/Media/${signed}`, `${stream} ${STREAM}`],
  ['POST /mcp', 'api /mcp', { ...bearer, ...BODY }],
  ['GET /', 'page /index.html', { 'x-reelay-access': HASH }],
  ['GET /problems/bot-check', 'page /problems/bot-check.html'],
  ['GET /problems/bot-check/a', 'page /problems/bot-check/a'],
  ...['/api/App/requests', '/swagger/v1/swagger.json', '/mcp', '/api/unknown'].map(
    (path): Row => [`GET ${path}`, PRIVATE],
  ),
  [`GET ${STREAM}`, PRIVATE, { 'x-reelay-access': HASH }],
  ['GET /api/App/requests', WRONG_KEY, { authorization: 'Bearer another-key-of-length' }],
  ['GET /api/App/requests', WRONG_KEY, { 'x-api-key': `${ACCESS_KEY},x` }],
  ['GET /api/App/requests', WRONG_KEY, { authorization: `Bearer ${HASH}` }],
  [`GET /api/Stream/Media/${signed.replace(/^./, 'B')}`, FORGED],
  [`GET /api/Stream/Media/${signed}x`, FORGED],
  [`GET /api/Stream/Media/${signerFor('0'.repeat(64), now)(KEY)}`, FORGED],
  [`GET /api/Stream/Media/${signerFor(HASH, now - 26 * 3_600_000)(KEY)}`, '403 Forbidden (expired)'],
  [`GET /api/Get?${LINK.replace('site', 'other')}`, FORGED],
  ['GET /api/Get?url=https%3A%2F%2Fsite.example&access=', PRIVATE],
  ['GET /api/Feed?url=%E0&access=a.b.c', FORGED],
  [`GET /api/App/requests?${LINK}`, PRIVATE],
];

const FUNCTIONS = MODES.flatMap((mode) => {
  const stream = mode === 'balanced' ? 'stream' : 'wake';
  const all = [...rowsOf(stream), ...(mode === 'balanced' ? [] : ON_DEMAND)];
  const withKey = all.map(
    ([request, outcome, headers, store]): Row => [request, outcome, { ...headers, ...bearer }, store],
  );
  return [
    { name: mode, mode, isPrivate: false, rows: all },
    { name: `${mode}, private`, mode, isPrivate: true, rows: [...withKey, ...accessRowsOf(stream)] },
  ];
});

describe.each(FUNCTIONS)('viewer request function, $name', ({ mode, isPrivate, rows }) => {
  it.each<Row>(rows)('%s → %s with %j, %j', async (request, outcome, headers, store) =>
    expect(describeOutcome(await ask({ mode, isPrivate, store }, request, headers))).toBe(outcome),
  );

  itWith('njs')('does in the dialect of its runtime what it does here', async () => {
    // The store of such a run has one value for every name.
    const cases = rows
      .filter(([, , , store]) => store?.closed === undefined)
      .map(([request, , headers, store]) => ({ request, headers, lease: isPrivate ? HASH : store?.host }));
    const requests = cases.map(({ request, headers = {} }) => {
      const [method = '', uri = ''] = request.split(/ (.*)/s);
      return requestOf(uri, { method, headers });
    });
    const here = [];
    for (const [index, request] of requests.entries())
      here.push(await createEdge(mode, () => cases[index]?.lease, Date.now, isPrivate)(request));
    const inNjs = await runInNjs(
      mode,
      requests.map((request, index) => ({ request, lease: cases[index]?.lease })),
      isPrivate,
    );
    const withoutTime = (outcomes: unknown) =>
      JSON.parse(JSON.stringify(outcomes).replace(/("x-reelay-origin":")\d+\.[\w-]{43}"/g, '$1signed"'));
    expect(withoutTime(inNjs)).toEqual(withoutTime(here));
  });

  it('has nothing of another instance in it, and fits in a function', () => {
    const source = edgeSource(mode, isPrivate);
    expect(Buffer.byteLength(source)).toBeLessThan(MAX_FUNCTION_BYTES);
    expect(source).not.toMatch(isPrivate ? /__/ : /admit|security|__/);
  });
});

const header = ({ result }: Outcome, name: string) => result.headers?.[name]?.value;

describe('what the function forwards', () => {
  it('excludes no more parameters from the cache key than a cache policy of CloudFront may name', () => {
    expect(STREAM_PARAMETERS).toEqual(expect.arrayContaining(['bitrate', 'format', 'subtitles', 'tags']));
    expect(UNCACHED_PARAMETERS.length).toBeLessThanOrEqual(10);
  });

  it.each([
    ['same-origin', undefined],
    ['none', undefined],
    ['cross-site', 'cross-site'],
  ])('keeps Sec-Fetch-Site, which the cache key contains, of other sites alone: %s', async (site, kept) =>
    expect(header(await ask({}, `GET ${STREAM}`, { 'sec-fetch-site': site }), 'sec-fetch-site')).toBe(kept),
  );

  it.each([
    ['format=mp3&start=1&end=2', { format: 'mp3', start: '1', end: '2' }],
    ['format=mp3&format=m4a', { format: 'mp3' }],
    ['jobId=a&jobid=b', { jobId: 'a' }],
    ['Format=mp3&utm=1&constructor=1&url=x', {}],
    ['', {}],
  ])('a stream with ?%s keeps the parameters that change its bytes', async (query, kept) => {
    const { result } = await ask({}, `GET ${STREAM}?${query}`);
    const values = Object.entries(kept).map(([name, value]) => [name, { value }]);
    expect(result.querystring).toEqual(Object.fromEntries(values));
    const { result: other } = await ask({}, 'GET /api/Fetch/GetResource?url=a&url=b');
    expect(other.querystring).toMatchObject({ url: { multiValue: [{ value: 'a' }, { value: 'b' }] } });
  });

  it.each([`GET ${STREAM}`, 'GET /api/App', 'GET /'])(
    'no origin secret, and no host but to the API: %s',
    async (request) => {
      const headers = { 'x-reelay-origin': 'guess', host: 'media.example', 'x-forwarded-host': 'evil.example' };
      const { result, choice } = await ask({ store: { host: registrationFor(60) } }, request, {
        ...headers,
        range: 'bytes=0-1',
      });
      const expected = { range: { value: 'bytes=0-1' }, host: { value: 'media.example' } };
      const forwarded = choice?.id === 'api' ? { 'x-forwarded-host': { value: 'media.example' } } : {};
      expect(result.headers).toEqual({ ...expected, ...forwarded });
    },
  );

  it.each(['GET', 'HEAD', 'OPTIONS'])('%s to the registered task, signed for a minute', async (method) => {
    const { choice } = await ask({ mode: 'on-demand', store: { host: registrationFor(60) } }, `${method} ${STREAM}`);
    expect(choice?.update).toMatchObject({
      domainName: HOST,
      connectionAttempts: 1,
      customOriginConfig: { port: 8080, protocol: 'http' },
    });
    const { 'x-reelay-origin': signature } = choice?.update?.customHeaders ?? {};
    expect(createSignatureCheck(SECRET)({ method, path: STREAM }, signature)).toBe(true);
  });

  it('reads the address of the task for streams only', async () => {
    const keys: string[] = [];
    const edge = createEdge('on-demand', (key) => void keys.push(key) as undefined);
    for (const path of ['/', '/api/App', '/api/Stream/Media', '/swagger']) await edge(requestOf(path));
    expect(keys).toEqual(Array(4).fill('closed'));
    await edge(requestOf(STREAM));
    expect(keys.slice(4)).toEqual(['closed', 'host']);
  });
});

describe('what the function answers', () => {
  it('refuses a method with the headers of the API, and without a body for HEAD', async () => {
    const { result } = await ask({}, 'POST /api/App');
    expect(result).toMatchObject({
      headers: {
        'content-type': { value: 'application/json; charset=utf-8' },
        'cache-control': { value: 'no-store' },
        'x-content-type-options': { value: 'nosniff' },
        vary: { value: 'Accept, Origin' },
      },
      body: JSON.stringify({ type: '/problems/method-not-allowed', title: 'Method Not Allowed', status: 405 }),
    });
    expect((await ask({}, 'HEAD /api/App/requests')).result.body).toBeUndefined();
    const unknown = await ask({}, 'POST /api/New');
    expect(unknown.result.headers).not.toHaveProperty('allow');
    expect(JSON.parse(unknown.result.body ?? '')).toEqual({
      type: '/problems/not-found',
      title: 'Resource Not Found',
      status: 404,
    });
  });

  it('says when to come again while the cost guard keeps it closed', async () => {
    const closed = await ask({ store: { closed: inSeconds(600) } }, 'GET /');
    expect(Number(header(closed, 'retry-after'))).toBeGreaterThan(598);
    expect(Number(header(closed, 'retry-after'))).toBeLessThanOrEqual(600);
    expect(JSON.parse(closed.result.body ?? '')).toEqual({
      type: '/problems/busy',
      title: 'Spending Limit Reached',
      status: 503,
    });
  });

  it.each(['POST /api/App', 'POST /mcp', 'DELETE /abc', 'GET /closed'])(
    'lets pages of allowed origins read it, and no others: %s',
    async (request) => {
      const store = request.endsWith('closed') ? { closed: inSeconds(600) } : {};
      const headersFor = async (origin: string) => (await ask({ store }, request, { origin })).result.headers;
      expect(await headersFor('https://page.example')).toMatchObject({
        'access-control-allow-origin': { value: 'https://page.example' },
        'access-control-expose-headers': { value: 'Retry-After' },
      });
      expect(await headersFor('https://other.example')).not.toHaveProperty('access-control-allow-origin');
    },
  );

  it.each([
    '*/*',
    'text/plain',
    'text/json, application/json;q=0.5',
    'text/plain;q=0.5, text/json;q=0.4',
    'text/*, application/json;q=0.9',
    'text/*;q=0.3, text/plain, */*;q=0.1',
    'TEXT/PLAIN; Q=1.000',
    'text/plain;q=2, text/json;q=0.1',
    'application/json;q=0, text/*',
    'image/png',
    ',;q=,',
    `a/b;q=0,${'a/b,'.repeat(64)}text/plain`,
  ])('an error for Accept: %s with the content type that the API selects', async (accept) =>
    expect(header(await ask({}, 'POST /api/App', { accept }), 'content-type')).toBe(
      `${chooseJsonType(accept)}; charset=utf-8`,
    ),
  );

  it('an error to a browser with a page that links to that of the problem', async () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    expect(prefersHtml(accept)).toBe(true);
    const { result } = await ask({}, 'POST /api/App', { accept });
    expect(result).toMatchObject({
      statusCode: 405,
      headers: { 'content-type': { value: 'text/html; charset=utf-8' }, vary: { value: 'Accept, Origin' } },
    });
    expect(result.body).toMatch(/<h1>Method Not Allowed<\/h1>.*<a href="\/problems\/method-not-allowed">/);
    expect((await ask({}, 'HEAD /api/App/requests', { accept })).result.body).toBeUndefined();
    const refused = await ask({ isPrivate: true }, 'GET /api/App/requests', { accept, 'x-api-key': '<b>' });
    expect(refused.result).toMatchObject({ statusCode: 401, headers: { 'www-authenticate': expect.anything() } });
    expect(refused.result.body).toContain('<p>The access key is not valid.</p>');
    expect(refused.result.body).not.toContain('<b>');
  });
});

const READ = ['GET', 'HEAD', 'OPTIONS'];
const LENGTHS = [undefined, '0', '65536', '65537', '-1', 'much'];
/** Paths of each behaviour: of the API and the page, and others that its pattern matches too. */
const PATHS = [
  ...[
    STREAM,
    '/api/Stream/Archive',
    '/foo/barbaz/x',
    '/abc/defghi/jklmnop',
    '/api/App',
    '/foo/bar',
    '/swagger',
    '/swaggers',
  ],
  ...['/mcp', '/abc', '/', '/index.html', '/assets/a.js', '//api//App', '/api/New'],
];

describe.each<[name: SynthesizedName]>([
  ['hobby'],
  ['team'],
  ['public'],
  ['private hobby, to change'],
  ['private team, to change'],
])('the distribution of %s', (name) => {
  it('lets no method pass to the page but those that read, no long body anywhere, and nothing without a key if it is private', async () => {
    const template = (await synthesize(name)).templates['reelay-main'] as Template;
    const deployed = distribution(template);
    const visited = new Set<unknown>();
    for (const path of PATHS) {
      const found = behaviourOf(deployed, path);
      visited.add(found);
      const [route = ''] = referencesIn(found.FunctionAssociations);
      const edge = createEdgeOf(String(template.Resources[route]?.Properties?.FunctionCode), () => undefined);
      for (const method of found.AllowedMethods)
        for (const length of LENGTHS) {
          const headers = length === undefined ? {} : { 'content-length': length };
          const { choice } = await edge(requestOf(path, { method, headers }));
          const isOpen =
            !name.startsWith('private') || choice?.id === 'page' || method === 'OPTIONS' || path === '/api/App';
          const isUpload = path === '/mcp' && method === 'POST' && (length === '0' || length === '65536');
          const passes = choice !== undefined;
          expect([method, path, length, passes && isOpen && (READ.includes(method) || isUpload)]).toEqual([
            method,
            path,
            length,
            passes,
          ]);
        }
    }
    expect(visited).toEqual(new Set([...deployed.CacheBehaviors, deployed.DefaultCacheBehavior]));
  });
});

describe.each(MODES)('a private instance, %s', (mode) => {
  const isPrivate = true;
  const askPrivate = (request: string, headers: Headers = {}) => ask({ mode, isPrivate }, request, headers);

  it.each<[request: string, headers: Headers, access: RegExp]>([
    // The key itself stays at the edge; nor does the hash, which signs links, travel to the tasks.
    ['GET /api/App/requests', bearer, new RegExp(`^${HASH}$`)],
    ['POST /mcp', { ...bearer, ...BODY }, new RegExp(`^${HASH}$`)],
    [`GET /api/Get?${LINK}`, {}, new RegExp(`^${HASH}$`)],
    [`GET /api/Stream/Media/${signed}`, {}, new RegExp(`^${HASH.slice(0, 12)}$`)],
    [`GET ${STREAM}`, bearer, new RegExp(`^${HASH.slice(0, 12)}$`)],
    ['GET /api/App', {}, /^none$/],
    ['OPTIONS /api/App/requests', {}, /^(none|[0-9a-f]{12})$/],
    [`OPTIONS /api/Stream/Media/${signed}`, {}, /^(none|[0-9a-f]{12})$/],
    ['GET /', {}, /^undefined$/],
  ])('tells origins who asks, and nothing else: %s', async (request, headers, access) => {
    const outcome = await askPrivate(request, { ...headers, 'x-reelay-access': 'guess' });
    expect(String(header(outcome, 'x-reelay-access'))).toMatch(access);
    const { 'x-reelay-access': _, ...others } = outcome.result.headers ?? {};
    expect(Object.keys(others)).toEqual(Object.keys(headers).filter((name) => name === 'content-length'));
  });

  it.each([
    ['a link whose parameters are not decoded', `/api/Get?${LINK}`, { querystring: { url: encodeURIComponent(link) } }],
    ['the page by its cookie', '/api/App/requests', { cookies: { 'reelay-access-key': ACCESS_KEY } }],
  ] as const)('admits %s', async (_, uri, more) => {
    const request = requestOf(uri);
    const added = Object.entries(more).map(([part, values]) => [
      part,
      {
        ...Object(request)[part],
        ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }])),
      },
    ]);
    const { result } = await edgeOf(mode, isPrivate)({ ...request, ...Object.fromEntries(added) });
    expect(result.headers).toMatchObject({ 'x-reelay-access': { value: HASH } });
  });

  it.each([
    ['GET /api/App/requests', true],
    [`GET /api/Stream/Media/${signed}x`, false],
  ])(
    'lets pages of allowed origins read its refusal, with a challenge where a key is missing: %s',
    async (request, isChallenged) => {
      const refused = await askPrivate(request, { origin: 'https://page.example' });
      expect(header(refused, 'access-control-allow-origin')).toBe('https://page.example');
      expect(header(refused, 'www-authenticate')?.startsWith('Bearer realm="Reelay"') ?? false).toBe(isChallenged);
    },
  );

  it('sends the contact for vulnerabilities without a key, as one machine does', async () => {
    const { result, choice } = await askPrivate('GET /.well-known/security.txt');
    expect(choice).toBeUndefined();
    expect(result).toMatchObject({ statusCode: 200, body: securityText(SECURITY_CONTACTS, now) });
    expect(result.headers?.['content-type']?.value).toBe('text/plain; charset=utf-8');
  });

  itWith('njs')('sends it in the dialect of its runtime too', async () => {
    const [outcome] = await runInNjs(mode, [{ request: requestOf('/.well-known/security.txt') }], isPrivate);
    expect(outcome?.result.body).toMatch(/^Contact: mailto:.*\nContact: https:.*\nExpires: \d{4}-\d\d-\d\dT.*Z\n$/);
  });

  it('is refused at synthesis where settings make it longer than a function may be', () => {
    const corsAllowedOrigins = Array.from({ length: 90 }, (_, index) => `https://page-${index}.of-some-site.example`);
    const options = { mode, isPrivate, corsAllowedOrigins, securityContacts: SECURITY_CONTACTS };
    expect(() => viewerRequestSource(options)).toThrow(SettingError);
    expect(() => viewerRequestSource(options)).toThrow(
      /^corsAllowedOrigins and securityContact make .* bytes too long/,
    );
    const contact = `mailto:${'s'.repeat(1500)}@a.example`;
    const open = viewerRequestSource({ mode, securityContacts: [contact] });
    expect(open).toContain(contact);
    expect(Buffer.byteLength(open)).toBeLessThanOrEqual(MAX_FUNCTION_BYTES);
  });
});
