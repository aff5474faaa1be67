import { describe, expect, it } from 'vitest';
import { routes } from '../../core/api/operations.ts';
import { createSignatureCheck } from '../../core/http/access-secrets.ts';
import { chooseJsonType } from '../../core/http/negotiation.ts';
import { STREAM_PARAMETERS, UNCACHED_PARAMETERS } from '../../infra/constructs/edge/viewer-request-source.ts';
import { itWith } from '../support/clients.ts';
import { createEdge, type EdgeMode, requestOf, runInNjs } from '../support/edge.ts';

const KEY = 'AbCdEfGhIjKlMnOpQrStUvWxYz-_0123456';
const SECRET = 'a-secret';
const registrationFor = (seconds: number, host = 'ec2-192-0-2-1.compute-1.amazonaws.com') =>
  `${host}|${SECRET}|${Math.floor(Date.now() / 1000) + seconds}`;

interface Case {
  readonly uri: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly lease?: string | undefined;
}

const mixCase = (path: string) =>
  path.replace(/[a-z]/gi, (letter, at) => (at % 2 ? letter.toUpperCase() : letter.toLowerCase()));
const known = routes;
const REFUSED = ['POST', 'PUT', 'PATCH', 'DELETE'];

it('excludes no more parameters from the cache key than a cache policy of CloudFront may name', () => {
  expect(STREAM_PARAMETERS).toEqual(expect.arrayContaining(['bitrate', 'format', 'subtitles', 'tags']));
  expect(UNCACHED_PARAMETERS.length).toBeLessThanOrEqual(10);
});

const handle = async (mode: EdgeMode, { uri, lease, ...options }: Case) =>
  createEdge(mode, () => lease)(requestOf(uri, options));

describe.each<EdgeMode>(['balanced', 'on-demand'])('viewer request function, %s', (mode) => {
  const api = known.filter(({ servedBy }) => servedBy === 'function');
  const streams = known.filter(({ servedBy }) => servedBy === 'stream-service');

  it.each(
    api.flatMap(({ path, methods: [method] }) =>
      [path, path.toLowerCase(), path.toUpperCase(), mixCase(path)].map((uri) => [uri, path, method] as const),
    ),
  )('%s goes to the API as %s by %s', async (uri, path, method) =>
    expect(await handle(mode, { uri, method, headers: { 'content-length': '2' } })).toMatchObject({
      result: { uri: path },
      choice: { id: 'api' },
    }),
  );

  it.each(['GET', 'HEAD', 'DELETE'])('answers %s /mcp with 405', async (method) => {
    const { result, choice } = await handle(mode, { uri: '/MCP', method });
    expect([result.statusCode, result.headers?.allow?.value, choice]).toEqual([405, 'POST, OPTIONS', undefined]);
  });

  it.each(['/mcp/', '/abc', '/mcpx'])('sends %s to the page, like every path that is not of the API', async (uri) =>
    expect((await handle(mode, { uri })).choice).toEqual({ id: 'page' }),
  );

  it.each(
    streams.flatMap(({ path }) =>
      [path, path.toLowerCase(), mixCase(path)].map((spelled) => [
        spelled.replace(/\{(key|jobid)\}/i, KEY).replace(/\{file\}/i, 'Video.m3u8'),
        path,
      ]),
    ),
  )('%s keeps the case of its key', async (uri, path) => {
    const { result, choice } = await handle(mode, { uri });
    expect(result.uri).toBe(path.replace(/\{(key|jobId)\}/, KEY).replace('{file}', 'Video.m3u8'));
    expect(choice).toEqual({ id: mode === 'balanced' ? 'stream' : 'wake' });
  });

  it.each([
    ['same-origin', undefined],
    ['none', undefined],
    ['cross-site', { value: 'cross-site' }],
  ])('keeps Sec-Fetch-Site, which the cache key contains, of other sites alone: %s', async (site, kept) => {
    const headers = { 'sec-fetch-site': site };
    const { result } = await handle(mode, { uri: `/api/Stream/Media/${KEY}`, headers });
    expect(result.headers?.['sec-fetch-site']).toEqual(kept);
  });

  it.each([
    ['/Swagger', '/swagger'],
    ['/SWAGGER/V1/Swagger.json', '/swagger/v1/swagger.json'],
    ['/api/New/Thing', '/api/New/Thing'],
    ['/api/Videos/1', '/api/Videos/1'],
    ['/API', '/API'],
    ['/api/App/', '/api/App/'],
    ['/api/Stream/Media', '/api/Stream/Media'],
    ['/api/Stream/Media/', '/api/Stream/Media/'],
    ['/api/Stream/Media/a/b', '/api/Stream/Media/a/b'],
    ['/api/Stream/Hls/a', '/api/Stream/Hls/a'],
    ['/api/Stream/Hls/a/', '/api/Stream/Hls/a/'],
    ['/api/Stream/Hls//b', '/api/Stream/Hls//b'],
    ['/api/Stream/Hls/a/b/c', '/api/Stream/Hls/a/b/c'],
    ['/api/Stream/Other/key', '/api/Stream/Other/key'],
  ])('%s goes to the API', async (uri, path) =>
    expect(await handle(mode, { uri })).toMatchObject({ result: { uri: path }, choice: { id: 'api' } }),
  );

  it.each([
    ['/', '/index.html'],
    ['/problems/bot-check', '/problems/bot-check.html'],
    ['/problems/', '/problems/'],
    ['/assets/Index-1a2B.js', '/assets/Index-1a2B.js'],
    ['/abc/defghi/x.png', '/abc/defghi/x.png'],
    ['/apis/App', '/apis/App'],
    ['/constructor', '/constructor'],
    ['/__proto__', '/__proto__'],
  ])('%s goes to the page', async (uri, path) =>
    expect(await handle(mode, { uri })).toMatchObject({ result: { uri: path }, choice: { id: 'page' } }),
  );

  it.each([
    ['format=mp3&start=1&end=2', { format: 'mp3', start: '1', end: '2' }],
    ['format=mp3&format=m4a', { format: 'mp3' }],
    ['jobId=a&jobid=b', { jobId: 'a' }],
    ['Format=mp3&utm=1&constructor=1&url=x', {}],
    ['', {}],
  ])(
    'a stream with ?%s reaches the cache and the origin with the parameters that change its bytes',
    async (query, kept) => {
      const { result } = await handle(mode, { uri: `/api/Stream/Media/${KEY}?${query}` });
      const values = Object.entries(kept).map(([name, value]) => [name, { value }]);
      expect(result.querystring).toEqual(Object.fromEntries(values));
      const { result: other } = await handle(mode, { uri: `/api/Fetch/GetResource?url=a&url=b` });
      expect(other.querystring).toMatchObject({ url: { multiValue: [{ value: 'a' }, { value: 'b' }] } });
    },
  );

  it('removes an origin secret sent by the viewer', async () => {
    const headers = { 'x-reelay-origin': 'guess', range: 'bytes=0-1' };
    for (const uri of [`/api/Stream/Media/${KEY}`, '/api/App', '/']) {
      const { result } = await handle(mode, { uri, headers, lease: registrationFor(60) });
      expect(result.headers).toEqual({ range: { value: 'bytes=0-1' } });
    }
  });

  it.each([
    ['65536', undefined],
    ['65537', 413],
    ['much', 413],
    [undefined, 413],
  ])('answers a message of %s bytes with %s: bodies are billed before they are counted', async (length, status) => {
    const headers: Record<string, string> = length === undefined ? {} : { 'content-length': length };
    const { result, choice } = await handle(mode, { uri: '/mcp', method: 'POST', headers });
    expect([result.statusCode, choice?.id]).toEqual([status, status ? undefined : 'api']);
    if (status) expect(JSON.parse(result.body ?? '')).toMatchObject({ title: 'Content Too Large', status });
  });

  it('forwards the host of the request to the API alone, whatever the viewer sent', async () => {
    const headers = { host: 'media.example', 'x-forwarded-host': 'evil.example' };
    const forwarded = async (uri: string) =>
      (await handle(mode, { uri, headers, lease: registrationFor(60) })).result.headers?.['x-forwarded-host']?.value;
    expect(await forwarded('/api/Feed')).toBe('media.example');
    expect(await forwarded(`/api/Stream/Media/${KEY}`)).toBeUndefined();
    expect(await forwarded('/')).toBeUndefined();
  });

  it.each(
    known.flatMap(({ path, methods }) =>
      [...REFUSED, 'HEAD']
        .filter((method) => !(methods as readonly string[]).includes(method))
        .map((method) => [method, path, methods] as const),
    ),
  )('%s %s is answered with 405', async (method, path, methods) => {
    const { result, choice } = await handle(mode, { uri: path.replace('{key}', KEY), method });
    expect(choice).toBeUndefined();
    expect(result).toMatchObject({
      statusCode: 405,
      headers: {
        allow: { value: [...methods, 'OPTIONS'].join(', ') },
        'content-type': { value: 'application/json; charset=utf-8' },
        'cache-control': { value: 'no-store' },
        'x-content-type-options': { value: 'nosniff' },
        vary: { value: 'Accept' },
      },
    });
    const body = JSON.stringify({ type: '/problems/method-not-allowed', title: 'Method Not Allowed', status: 405 });
    expect(result.body).toBe(method === 'HEAD' ? undefined : body);
  });

  it.each(REFUSED)('%s to an unknown path is answered with 404', async (method) => {
    const { result, choice } = await handle(mode, { uri: '/api/New', method });
    expect(choice).toBeUndefined();
    expect(result.headers).not.toHaveProperty('allow');
    expect(JSON.parse(result.body ?? '')).toEqual({
      type: '/problems/not-found',
      title: 'Resource Not Found',
      status: 404,
    });
  });

  it.each([
    '*/*',
    'text/plain',
    'text/json, application/json;q=0.5',
    'text/plain;q=0.5, text/json;q=0.4',
    'text/*, application/json;q=0.9',
    'TEXT/PLAIN; Q=1.000',
    'text/plain;q=2, text/json;q=0.1',
    'application/json;q=0, text/*',
    'image/png',
    ',;q=,',
    `a/b;q=0,${'a/b,'.repeat(64)}text/plain`,
  ])('an error for Accept: %s has the content type that the API selects', async (accept) => {
    const { result } = await handle(mode, { uri: '/api/App', method: 'POST', headers: { accept } });
    expect(result.headers?.['content-type']?.value).toBe(`${chooseJsonType(accept)}; charset=utf-8`);
  });
});

describe('viewer request function, stream on demand', () => {
  const uri = `/api/stream/media/${KEY}`;

  it.each(['GET', 'HEAD', 'OPTIONS'])('%s goes to the registered task, signed for a minute', async (method) => {
    const { choice } = await handle('on-demand', { uri, method, lease: registrationFor(60) });
    expect(choice?.update).toMatchObject({
      domainName: 'ec2-192-0-2-1.compute-1.amazonaws.com',
      connectionAttempts: 1,
      customOriginConfig: { port: 8080, protocol: 'http' },
    });
    const { 'x-reelay-origin': signature } = choice?.update?.customHeaders ?? {};
    const signed = { method, path: `/api/Stream/Media/${KEY}` };
    expect(createSignatureCheck(SECRET)(signed, signature)).toBe(true);
  });

  it.each([
    ['no task is registered', undefined],
    ['the registration has expired', registrationFor(-1)],
    ['the registration expires in this second', registrationFor(0)],
    ['the expiry is empty', `host.example|${SECRET}|`],
    ['the expiry is not a number', `host.example|${SECRET}|soon`],
    ['the secret is empty', registrationFor(60).replace(SECRET, '')],
    ['the host is an address', registrationFor(60, '192.0.2.1')],
    ['the host has a port', registrationFor(60, 'host.example:22')],
    ['the host is empty', registrationFor(60, '')],
    ['the record is malformed', 'nonsense'],
    ['the record is empty', ''],
  ])('goes to the wake function when %s', async (_, lease) =>
    expect((await handle('on-demand', { uri, lease })).choice).toEqual({ id: 'wake' }),
  );

  it('reads the address of the task for streams only', async () => {
    const keys: string[] = [];
    const edge = createEdge('on-demand', (key) => void keys.push(key) as undefined);
    for (const path of ['/', '/api/App', '/api/Stream/Media', '/swagger']) await edge(requestOf(path));
    expect(keys).toEqual(Array(4).fill('closed'));
    await edge(requestOf(uri));
    expect(keys.slice(4)).toEqual(['closed', 'host']);
  });
});

describe.each<EdgeMode>(['balanced', 'on-demand'])('while the cost guard keeps it closed, %s', (mode) => {
  const now = Date.now();
  const closedUntil = (value: string) =>
    createEdge(
      mode,
      (key) => (key === 'closed' ? value : undefined),
      () => now,
    );
  const inSeconds = (seconds: number) => closedUntil(String(Math.floor(now / 1000) + seconds));

  it.each(['/', '/index.html', '/api/App', `/api/Stream/Media/${KEY}`, '/other'])(
    'answers %s with 503 and when to come again',
    async (path) => {
      const { result, choice } = await inSeconds(600)(requestOf(path));
      expect([result.statusCode, choice]).toEqual([503, undefined]);
      expect(Number(result.headers?.['retry-after']?.value)).toBeGreaterThan(598);
      expect(Number(result.headers?.['retry-after']?.value)).toBeLessThanOrEqual(600);
      expect(JSON.parse(result.body ?? '')).toEqual({ title: 'Spending Limit Reached', status: 503 });
    },
  );

  it('is open again when that time has come, and without a time', async () => {
    for (const edge of [inSeconds(0), inSeconds(-600), closedUntil(''), closedUntil('soon')])
      expect((await edge(requestOf('/api/App'))).choice).toEqual({ id: 'api' });
  });
});

describe('deployed viewer request function', () => {
  const cases: Case[] = [
    ...routes.map(({ path }) => ({ uri: mixCase(path).replace(/\{key\}/i, KEY) })),
    ...['/', '/assets/x.js', '/SWAGGER/v1', '/api/New', '/API', '/%ZZ', '/ÄPI'].map((uri) => ({ uri })),
    { uri: '/api/App', method: 'POST' },
    { uri: '/Mcp', method: 'POST' },
    { uri: '/Mcp', method: 'POST', headers: { 'content-length': '20' } },
    { uri: '/api/App', method: 'POST', headers: { accept: 'text/*;q=0.3, text/plain, */*;q=0.1' } },
    { uri: '/api/Fetch/GetResource', method: 'HEAD' },
    { uri: '/api/New', method: 'DELETE' },
    ...[registrationFor(60), registrationFor(-60), 'nonsense', registrationFor(60, '192.0.2.1')].map((lease) => ({
      uri: `/api/Stream/Combined/${KEY}`,
      headers: { 'x-reelay-origin': 'guess', range: 'bytes=0-' },
      lease,
    })),
  ];

  for (const mode of ['balanced', 'on-demand'] as const) {
    itWith('njs')(`does in the dialect of its runtime what it does here, ${mode}`, async () => {
      const inNjs = await runInNjs(
        mode,
        cases.map(({ uri, lease, ...options }) => ({ request: requestOf(uri, options), lease })),
      );
      const here = [];
      for (const of of cases) here.push(await handle(mode, of));
      const withoutTime = (outcomes: unknown) =>
        JSON.parse(JSON.stringify(outcomes).replace(/("x-reelay-origin":")\d+\.[\w-]{43}"/g, '$1signed"'));
      expect(withoutTime(inNjs)).toEqual(withoutTime(here));
    });
  }
});
