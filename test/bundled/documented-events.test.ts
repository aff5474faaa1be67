import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Event, Result } from '../../lambdas/middleware/event.ts';
import { bareEvent, type Changes, documented } from './documented-event.ts';
import { type FunctionRig, startFunctionRig } from './function-runner.ts';

const SECRET = 'only-the-edge-knows';
const ORIGIN = 'https://page.example';
const LINK = 'https://user:word@media.example/v?token=hush';
const FOR_LINK = `url=${encodeURIComponent(LINK)}`;

const NAMES = ['get-app-info', 'get-request-count', 'get-api-description', 'get-resource', 'not-found'] as const;
type Name = (typeof NAMES)[number];

/** The functions as Lambda loads them, told all they know by the environment. The layer has no tools. */
let rig: FunctionRig;
beforeAll(async () => {
  rig = await startFunctionRig(NAMES);
  const env = {
    ...rig.environment,
    ORIGIN_SECRET: SECRET,
    CORS_ALLOWED_ORIGINS: ORIGIN,
    TOOLS_LAYER_DIR: rig.dir,
    // Even so: no function hands Powertools its events.
    POWERTOOLS_LOGGER_LOG_EVENT: 'true',
  };
  for (const name of NAMES) rig.functions.set(name, await rig.start(name, env));
});
afterAll(() => rig.close());

const send = async (name: Name, event: unknown) => (await rig.functions.get(name)?.invoke(event)) as Result;
/** Through the edge. */
const fromEdge = (path: string, { headers = {}, ...changes }: Changes = {}): Event =>
  documented(path, { ...changes, headers: { 'x-reelay-origin': SECRET, ...headers } });
const jsonOf = ({ body = '' }: Result) => JSON.parse(body);
const NOT_FOUND = { title: 'Resource Not Found', status: 404 };

/** The path that the HTTP API routes to each, and what it answers while no layer has tools. */
const ROUTED: readonly [Name, string, number, string][] = [
  ['get-app-info', '/api/App', 200, ''],
  ['get-request-count', '/api/App/requests', 200, ''],
  ['get-api-description', '/swagger/v1/swagger.json', 200, ''],
  ['get-resource', '/api/Fetch/GetResource', 503, FOR_LINK],
  ['not-found', '/api/Other', 404, ''],
];

describe.each(ROUTED)('%s', (name, path, status, query) => {
  it('answers a documented event', async () => {
    const result = await send(name, fromEdge(path, { query, headers: { origin: ORIGIN } }));
    expect(result.statusCode).toBe(status);
    expect(result.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': ORIGIN,
    });
    expect(jsonOf(result)).toBeTypeOf('object');
    expect(result.isBase64Encoded ?? false).toBe(false);
  });

  it('gives the same answer to a minimal event with only the secret', async () => {
    const little = { ...bareEvent(path, { query }), headers: { 'x-reelay-origin': SECRET } };
    const [bare, full] = [await send(name, little), await send(name, fromEdge(path, { query }))];
    expect(bare).toEqual(full);
  });

  it.each([undefined, '', 'wrong', `${SECRET} `, `${SECRET},${SECRET}`])(
    'tells nothing to who says %j',
    async (borne) => {
      const event = documented(path, { query });
      if (borne !== undefined) event.headers['x-reelay-origin'] = borne;
      const result = await send(name, event);
      expect([result.statusCode, jsonOf(result)]).toEqual([404, NOT_FOUND]);
    },
  );

  it('tells nothing to who sends no headers at all', async () => {
    const result = await send(name, bareEvent(path, { query }));
    expect([result.statusCode, jsonOf(result)]).toEqual([404, NOT_FOUND]);
  });

  it('lets no preflight past the edge either', async () => {
    const preflight = documented(path, { method: 'OPTIONS', headers: { origin: ORIGIN } });
    expect((await send(name, preflight)).statusCode).toBe(404);
  });
});

// The description is a document of one type.
it.each(ROUTED.filter(([name]) => name !== 'get-api-description'))(
  '%s answers in the type that joined Accept headers rate highest',
  async (name, path, _, query) => {
    const accept = 'image/png,text/plain;q=0.9,text/json;q=0.95';
    const result = await send(name, fromEdge(path, { query, headers: { accept } }));
    expect(result.headers?.['content-type']).toBe('text/json; charset=utf-8');
  },
);

describe('get-resource', () => {
  const PATH = '/api/Fetch/GetResource';

  it.each(['', 'url=', 'url=nonsense', 'url=ftp%3A%2F%2Fmedia.example%2F', 'url=nonsense&url=https://media.example/'])(
    'refuses %j',
    async (query) => {
      const result = await send('get-resource', fromEdge(PATH, { query }));
      expect([result.statusCode, jsonOf(result)]).toEqual([400, { title: 'Bad Request', status: 400 }]);
    },
  );

  it('reads the raw query string, the first url of it', async () => {
    const event = fromEdge(PATH, { query: 'url=https://media.example/watch?v=x&url=nonsense' });
    // API Gateway joins what is repeated here, and decodes it.
    event.queryStringParameters = { url: 'https://media.example/watch?v=x,nonsense' };
    expect((await send('get-resource', event)).statusCode).toBe(503);
  });

  it('answers an entry with a problem whose status survives the way', async () => {
    const request = { url: 'https://media.example/v', entry: {}, ancestors: ['https://media.example/list'] };
    const entry = { kind: 'entry', deadline: Date.now() + 20_000, request };
    expect(await send('get-resource', entry)).toMatchObject({ problem: { status: 503 } });
    const itself = { ...entry, request: { ...request, url: 'https://media.example/list' } };
    expect(await send('get-resource', itself)).toMatchObject({ problem: { status: 404 } });
  });

  it.each([{ kind: 'entry' }, { kind: 'other', request: null }])('makes a problem of %j', async (event) => {
    expect(await send('get-resource', event)).toMatchObject({ problem: { status: 500 } });
  });
});

describe('a path', () => {
  it.each([
    '/prod/swagger/v1/swagger.json',
    '/swagger',
    '/swagger/%2e%2e/package.json',
    '/swagger/%ZZ',
    '/swagger//',
    '',
  ])('%j is no part of the description', async (path) => {
    const result = await send('get-api-description', fromEdge(path));
    expect([result.statusCode, jsonOf(result)]).toEqual([404, NOT_FOUND]);
  });

  it.each(['/', '//', '/prod/api/App', '/api/%ZZ', '/api/\u0000', '/ü', `/${'a'.repeat(8_000)}`, ''])(
    '%j that no route takes is a problem, whatever the method',
    async (path) => {
      for (const method of ['GET', 'POST', 'BREW']) {
        const result = await send('not-found', fromEdge(path, { method }));
        expect([result.statusCode, jsonOf(result)]).toEqual([404, NOT_FOUND]);
      }
    },
  );
});

it('HEAD has the headers of GET alone', async () => {
  const result = await send('get-app-info', fromEdge('/api/App', { method: 'HEAD' }));
  expect(result.statusCode).toBe(200);
  expect(Number(result.headers?.['content-length'])).toBeGreaterThan(10);
  expect(result).not.toHaveProperty('body');
});

describe('the log', () => {
  it('has nothing in it of what was sent, nor the secret', async () => {
    const all = NAMES.map((name) => rig.functions.get(name));
    // Complete once they have ended.
    await Promise.all(all.map((each) => each?.close()));
    const lines = all.flatMap((each) => each?.lines ?? []);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('\n')).not.toMatch(/crumbs|bodily|CERT_CONTENT|value1|hush|word|only-the-edge-knows/);
    for (const line of lines) expect(JSON.parse(line)).toBeTypeOf('object');
    const outcomes = lines.flatMap((line) => JSON.parse(line).Outcome ?? []);
    expect(new Set(outcomes)).toEqual(new Set(['unavailable', 'bad link', 'not found']));
  });
});
