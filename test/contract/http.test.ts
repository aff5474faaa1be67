import { describe, expect, it } from 'vitest';
import { expectFailure } from './api-document.ts';
import { ANY_INSTANCE, useTarget } from './target.ts';
import { ALLOWED_ORIGINS } from './target-settings.ts';

const target = useTarget();

const GOOD_KEY = 'A'.repeat(33);
/** A path for each kind of JSON response: success, resolve failure, stream failure, unknown path. */
const JSON_PATHS = [
  '/api/App',
  '/api/App/requests',
  '/api/Fetch/GetResource',
  `/api/Stream/Media/${GOOD_KEY}`,
  '/api/New',
];

// More of Accept: core/http/negotiation.unit.
describe('content type', ANY_INSTANCE, () => {
  it.each([
    [undefined, 'application/json'],
    ['text/plain', 'text/plain'],
    ['TEXT/JSON', 'text/json'],
    ['text/json;q=0.5, text/plain;q=0.9, application/json;q=0.7', 'text/plain'],
    ['text/plain, text/json', 'application/json'],
    ['text/html,*/*', 'application/json'],
    ['nonsense;;;', 'application/json'],
  ])('for Accept %j is %s', async (accept, type) => {
    for (const path of JSON_PATHS) {
      const { headers, body } = await target.get(path, { headers: accept === undefined ? {} : { accept } });
      expect(headers['content-type'], path).toBe(`${type}; charset=utf-8`);
      expect(headers.vary?.toLowerCase(), path).toContain('accept');
      expect(() => JSON.parse(body.toString())).not.toThrow();
    }
  });

  describe('for a browser that opens an address', () => {
    const open = (path: string, method = 'GET') =>
      target.get(path, {
        method,
        headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
      });

    it.each(['/api/App', '/api/App/requests'])('is JSON of %s', async (path) => {
      expect((await open(path)).headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' });
    });

    it.each([
      ['/api/Fetch/GetResource', 400, 'Not a link', 'The address has no parameter url.'],
      ['/api/Fetch/GetResource?url=%3Cb%3E', 400, 'Not a link', 'This is not a link: &lt;b&gt;'],
      [`/api/Stream/Media/${GOOD_KEY}`, 404, 'Nothing found', 'Check the link'],
      ['/api/New/Thing', 404, 'Nothing found', 'There is no /api/New/Thing.'],
      ['/api/%ZZ', 404, 'Nothing found', 'There is no /api/%ZZ.'],
    ])('is the page of the problem of %s', async (path, status, heading, said) => {
      const [page, json, head] = [await open(path), await target.get(path), await open(path, 'HEAD')];
      expect([page.status, json.status]).toEqual([status, status]);
      expect(page.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(page.headers.vary?.toLowerCase()).toContain('accept');
      expect(page.body.toString()).toContain(`<h1>${heading}</h1>`);
      expect(page.body.toString()).toContain(said);
      expect(page.body.toString()).not.toContain('<b>');
      expectFailure(json, status);
      // Of GetResource: 405.
      if (head.status === status) expect(head.headers['content-length']).toBe(page.headers['content-length']);
      expect(head.body).toHaveLength(0);
    });
  });
});

describe('paths', ANY_INSTANCE, () => {
  it.each([
    ['/api/app', 200],
    ['/API/APP', 200],
    ['/api/app/REQUESTS', 200],
    ['/api/fetch/getresource', 400],
    ['/Api/Stream/media/nothing', 404],
    ['/api/stream/COMBINED/nothing', 404],
  ])('match %s in any case', async (path, status) => {
    expect((await target.get(path)).status).toBe(status);
  });

  it.each([
    '/api',
    '/api/',
    '/api/New/Thing',
    '/api/Fetch',
    '/api/Fetch/GetResource/more',
    '/api/App/unknown',
    '/api/Stream',
    '/api/Stream/Media',
    '/api/Stream/Media/',
    '/api/Stream/Media/a/b',
    '/api/Stream/Other/key',
    '/api/%ZZ',
    '/api/Stream/Media/%ZZ',
    '/api/Stream/Combined/%',
    '/api/Stream/Media/%E0%A4%A',
    '/api/Stream/Media/..%2f..%2fetc%2fpasswd',
    '/api/Stream/Media/%00',
  ])('do not include %s', async (path) => {
    await expectNothing(path);
  });

  it.each(['/api/Stream/Media/', '/api/Stream/Combined/', '/api/'])(
    'do not include %s with 5,000 more characters',
    async (path) => {
      await expectNothing(path.padEnd(5_000, 'k'));
    },
  );

  async function expectNothing(path: string): Promise<void> {
    const answer = await target.get(path);
    expectFailure(answer, 404);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  }
});

describe('methods', ANY_INSTANCE, () => {
  const paths = [
    '/api/App',
    '/api/App/requests',
    '/api/Fetch/GetResource?url=x',
    '/api/Stream/Media/k',
    '/api/Stream/Combined/k',
  ];

  it.each(paths)('other methods than GET of %s are answered with 405', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await target.get(path, { method });
      expectFailure(answer, 405, method);
      expect(answer.headers.allow).toMatch(/\bGET\b/);
    }
  });

  it('HEAD GetResource, which would resolve, is answered with 405', async () => {
    const { status, headers } = await target.get('/api/Fetch/GetResource?url=http://x.invalid/', { method: 'HEAD' });
    expect([status, headers.allow]).toEqual([405, expect.stringMatching(/^(?!.*\bHEAD\b).*\bGET\b/)]);
  });

  it('GET and HEAD of an unknown key or path are answered with 404, HEAD without a body', async () => {
    const kinds = ['Media', 'Combined', 'Cover', 'Subtitle', 'Archive'];
    for (const path of [
      '/api/New',
      `/api/Stream/Hls/${GOOD_KEY}/master.m3u8`,
      ...kinds.map((kind) => `/api/Stream/${kind}/${GOOD_KEY}`),
    ]) {
      expectFailure(await target.get(path), 404, path);
      const { status, body } = await target.get(path, { method: 'HEAD' });
      expect([status, body.length], path).toEqual([404, 0]);
    }
  });

  it('every method of an unknown path is answered with 404', async () => {
    expect((await target.get('/api/New', { method: 'POST' })).status).toBe(404);
  });
});

describe('CORS', () => {
  const [allowed = '', other = ''] = ALLOWED_ORIGINS;
  const EXPOSED =
    'accept-ranges content-disposition content-length content-location content-range estimated-content-length etag retry-after x-argon-start x-maintenance x-playlist x-request-count x-tools';

  it.each([allowed, other].flatMap((origin) => JSON_PATHS.map((path) => [origin, path])))(
    'lets %s read %s',
    async (origin, path) => {
      const { headers } = await target.get(path, { headers: { origin } });
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers.vary?.toLowerCase()).toContain('origin');
      const exposed = headers['access-control-expose-headers']?.toLowerCase().split(/\s*,\s*/);
      expect(exposed?.sort().join(' ')).toBe(EXPOSED);
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );

  it.each(['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null'])(
    'sends no CORS headers to %s',
    async (origin) => {
      for (const path of JSON_PATHS) {
        const { headers, body } = await target.get(path, { headers: { origin } });
        expect(body.length, path).toBeGreaterThan(0);
        expect(headers, path).not.toHaveProperty('access-control-allow-origin');
      }
    },
  );

  const PREFLIGHTS = ['/api/App', '/api/Fetch/GetResource', '/api/Stream/Media/k', '/api/Stream/Combined/k'];
  const PREFLIGHT = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'range, if-range' };

  it.each(PREFLIGHTS)('answers a preflight of any origin for %s, without credentials', ANY_INSTANCE, async (path) => {
    const headers = { origin: 'https://evil.example', ...PREFLIGHT };
    const answer = await target.get(path, { method: 'OPTIONS', headers });
    expect([answer.status < 300, answer.body.length]).toEqual([true, 0]);
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it.each(PREFLIGHTS)('answers a preflight of an allowed origin for %s', async (path) => {
    const answer = await target.get(path, { method: 'OPTIONS', headers: { origin: allowed, ...PREFLIGHT } });
    expect(answer.headers['access-control-allow-origin']).toBe(allowed);
    expect(answer.headers['access-control-allow-methods']).toMatch(/\bGET\b/);
    const permitted = answer.headers['access-control-allow-headers']?.toLowerCase().split(/\s*,\s*/);
    expect(permitted).toEqual(expect.arrayContaining(['range', 'if-range', 'accept-encoding']));
  });
});

describe('pages of other sites', () => {
  const link = '?url=http%3A%2F%2Fx.invalid%2F';
  const kinds = ['Media', 'Combined', 'Cover', 'Subtitle', 'SkipSegments', 'Segments', 'Archive', 'Hls'];
  const paths = [
    ...['Fetch/GetResource', 'Fetch/GetDetails', 'Fetch/GetPlayback', 'Get', 'Feed'].map((name) => name + link),
    ...kinds.map((kind) => `Stream/${kind}/${GOOD_KEY}${kind === 'Hls' ? '/all.mpd' : ''}`),
  ].map((path) => `/api/${path}`);

  it.each([
    ['a fetch', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', origin: 'https://evil.example' }],
    ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
  ])('cause no resolve and no stream by %s', async (_, sent) => {
    for (const path of [...paths, '/api/Stream/Archive/Progress/a-job-of-another']) {
      const answer = await target.get(path, { headers: { 'sec-fetch-site': 'cross-site', ...sent } });
      expect(answer.status, path).toBe(403);
      const problem = JSON.parse(answer.body.toString());
      expect(problem).toMatchObject({ title: 'Forbidden', status: 403, detail: expect.stringMatching(/\.$/) });
    }
  });

  it.each([
    ['a navigation', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
    ['an extension', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', origin: 'chrome-extension://abc' }],
    ['an allowed page', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', origin: ALLOWED_ORIGINS[0] ?? '' }],
    ['a player of it', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'video', referer: `${ALLOWED_ORIGINS[0]}/` }],
  ])('may do so by %s', async (_, sent) => {
    for (const path of paths) {
      const answer = await target.get(path, { headers: { 'sec-fetch-site': 'cross-site', ...sent } });
      expect(answer.status, path).toBe(404);
    }
  });
});

describe('API description', () => {
  it('has an interactive page in development', async () => {
    const { status, headers, body } = await target.get('/swagger');
    const page =
      status < 400 && headers.location ? await target.get(new URL(headers.location, target.baseUrl).pathname) : body;
    expect((Buffer.isBuffer(page) ? page : page.body).toString()).toMatch(/<html/i);
  });
});
