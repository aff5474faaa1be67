import type { APIGatewayProxyEventV2 as Event, APIGatewayProxyStructuredResultV2 as Result } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { bareEvent, type Changes, documented } from './documented-event.ts';
import { FROM_EDGE, startFunctionFixture } from './function-fixture.ts';

const ORIGIN = 'https://page.example';
const LINK = 'https://user:word@media.example/v?token=hush';
const FOR_LINK = `url=${encodeURIComponent(LINK)}`;

const NAMES = ['api', 'get-resource'] as const;
type Name = (typeof NAMES)[number];

/** The functions as Lambda loads them, configured by environment variables. The layer has no tools. */
const functionFixture = closeAfterwards(await startFunctionFixture(NAMES));
const environment = {
  ...functionFixture.environment,
  CORS_ALLOWED_ORIGINS: ORIGIN,
  TOOLS_LAYER_DIR: functionFixture.dir,
  // Must have no effect: no function passes its events to Powertools.
  POWERTOOLS_LOGGER_LOG_EVENT: 'true',
};
for (const name of NAMES) functionFixture.functions.set(name, await functionFixture.start(name, environment));

const send = async (name: Name, event: unknown) => (await functionFixture.functions.get(name)?.invoke(event)) as Result;
/** An event with the origin secret, as CloudFront sends it. */
const fromEdge = (path: string, { headers = {}, ...changes }: Changes = {}): Event =>
  documented(path, { ...changes, headers: { ...FROM_EDGE, ...headers } });
const jsonOf = ({ body = '' }: Result) => JSON.parse(body);
const NOT_FOUND = { type: '/problems/not-found', title: 'Resource Not Found', status: 404 };

/** A path that the HTTP API routes to each function, and its status while the layer has no tools. */
const ROUTED: readonly [Name, string, number, string][] = [
  ['api', '/api/App', 200, ''],
  ['api', '/api/App/requests', 200, ''],
  ['api', '/swagger/v1/swagger.json', 200, ''],
  ['get-resource', '/api/Fetch/GetResource', 502, FOR_LINK],
  ['api', '/api/Other', 404, ''],
];

describe.each(ROUTED)('%s at %s', (name, path, status, query) => {
  it('accepts an event with every documented field', async () => {
    const result = await send(name, fromEdge(path, { query, headers: { origin: ORIGIN } }));
    expect(result.statusCode).toBe(status);
    expect(result.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': ORIGIN,
    });
    expect(jsonOf(result)).toBeTypeOf('object');
    expect(result.isBase64Encoded ?? false).toBe(false);
  });

  it('returns the same response to a minimal event with only the secret', async () => {
    const little = { ...bareEvent(path, { query }), headers: FROM_EDGE };
    const [bare, full] = [await send(name, little), await send(name, fromEdge(path, { query }))];
    expect(bare).toEqual(full);
  });

  it.each([
    ['another secret', documented(path, { query, headers: { 'x-reelay-origin': 'wrong' } })],
    ['no headers', bareEvent(path, { query })],
    ['a preflight without the secret', documented(path, { method: 'OPTIONS', headers: { origin: ORIGIN } })],
  ])('answers 404 to %s', async (_, event) => {
    const result = await send(name, event);
    expect([result.statusCode, jsonOf(result)]).toEqual([404, NOT_FOUND]);
  });
});

describe('get-resource', () => {
  it.each([
    ['url=https://media.example/watch?v=x&url=nonsense', 502],
    ['url=nonsense&url=https://media.example/', 400],
  ])('reads the first url of the raw query string: %s', async (query, status) => {
    const event = fromEdge('/api/Fetch/GetResource', { query });
    // API Gateway joins and decodes repeated parameters here.
    event.queryStringParameters = { url: 'https://media.example/watch?v=x,nonsense' };
    expect((await send('get-resource', event)).statusCode).toBe(status);
  });

  it('tells of an entry event whether its failure is final, and why', async () => {
    const request = { url: 'https://media.example/v', entry: {}, ancestors: ['https://media.example/list'] };
    const entry = { kind: 'entry', deadline: Date.now() + 20_000, request };
    expect(await send('get-resource', entry)).toEqual({ failure: 'passing' });
    const itself = { ...entry, request: { ...request, url: 'https://media.example/list' } };
    expect(await send('get-resource', itself)).toEqual({ failure: 'final', reason: 'not-found' });
  });

  it.each([{ kind: 'entry' }, { kind: 'other', request: null }])(
    'fails to resolve the entry of the invalid event %j',
    async (event) => {
      expect(await send('get-resource', event)).toEqual({ failure: 'passing' });
    },
  );
});

describe('path', () => {
  it.each(['/prod/api/App', '/api/%ZZ', '/api/\u0000', '/ü', ''])(
    '%j without a route is answered with a problem for every method',
    async (path) => {
      for (const method of ['GET', 'POST', 'BREW']) {
        const result = await send('api', fromEdge(path, { method }));
        expect([result.statusCode, jsonOf(result)]).toEqual([404, NOT_FOUND]);
      }
    },
  );
});

describe('log', () => {
  it('contains neither request data nor the secret', async () => {
    const all = NAMES.map((name) => functionFixture.functions.get(name));
    // Complete once the functions have ended.
    await Promise.all(all.map((each) => each?.close()));
    const lines = all.flatMap((each) => each?.lines ?? []);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('\n')).not.toMatch(/crumbs|bodily|CERT_CONTENT|value1|hush|word|only-the-edge-knows/);
    for (const line of lines) expect(JSON.parse(line)).toBeTypeOf('object');
    const outcomes = lines.flatMap((line) => JSON.parse(line).Outcome ?? []);
    // A path without a route resolves nothing.
    expect(new Set(outcomes)).toEqual(new Set(['failed', 'bad link']));
  });
});
