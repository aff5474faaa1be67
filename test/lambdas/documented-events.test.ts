import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Event, Handler, Result } from '../../lambdas/index.ts';
import { createState, createTableClient, ensureTable } from '../../layers/state/index.ts';
import { type EmbeddedTable, startEmbeddedTable } from '../../local/embedded-table.ts';

const TABLE = 'documented-events';
const SECRET = 'only-the-edge-knows';
const ORIGIN = 'https://page.example';

let dir: string;
let table: EmbeddedTable;
const handlers = new Map<string, Handler>();

const NAMES = ['get-app-info', 'get-request-count', 'get-api-description', 'get-resource', 'not-found'] as const;
type Name = (typeof NAMES)[number];

/** The entries as Lambda loads them: told all they know by the environment, in AWS's own names. No layer has tools. */
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'reelay-events-'));
  table = await startEmbeddedTable({ dir: join(dir, 'table') });
  const client = createTableClient({ endpoint: table.endpoint });
  await ensureTable(client, TABLE);
  await createState({ client, tableName: TABLE }).putTools({
    ytDlp: '2026.11.20',
    ffmpeg: '7.1',
    verifiedBy: { ytDlp: 'signature', ffmpeg: 'system' },
    installedAt: 0,
  });
  client.destroy();
  const environment = {
    TABLE_NAME: TABLE,
    STAGE: 'test',
    ORIGIN_SECRET: SECRET,
    CORS_ALLOWED_ORIGINS: ORIGIN,
    AWS_LAMBDA_FUNCTION_NAME: 'get-resource',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    TOOLS_LAYER_DIR: join(dir, 'opt'),
    POWERTOOLS_METRICS_DISABLED: 'true',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  for (const name of NAMES) handlers.set(name, (await import(`../../lambdas/entries/${name}.ts`)).handler);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await table.close();
  await rm(dir, { recursive: true, force: true });
});

interface Changes {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An event with every part that AWS documents for payload format 2.0: cookies apart, repeated headers and parameters
 * joined by commas, an authorizer, a client certificate, stage variables, and a body in base64.
 */
const documented = (path: string, { method = 'GET', query = '', headers = {} }: Changes = {}): Event => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: query,
  cookies: ['session=a', 'theme=b'],
  headers: { 'x-reelay-origin': SECRET, accept: 'text/json;q=0.5,application/json', 'x-many': 'one,two', ...headers },
  queryStringParameters: { 'x-many': 'one,two' },
  requestContext: {
    accountId: '123456789012',
    apiId: 'api-id',
    authentication: {
      clientCert: {
        clientCertPem: 'CERT_CONTENT',
        subjectDN: 'www.example.com',
        issuerDN: 'Example issuer',
        serialNumber: '00',
        validity: { notBefore: 'May 28 12:30:02 2019 GMT', notAfter: 'Aug  5 09:36:04 2021 GMT' },
      },
    },
    domainName: 'id.execute-api.eu-central-1.amazonaws.com',
    domainPrefix: 'id',
    http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'agent' },
    requestId: 'request-id',
    routeKey: '$default',
    stage: '$default',
    time: '12/Mar/2020:19:03:58 +0000',
    timeEpoch: Date.now(),
  } as Event['requestContext'],
  body: Buffer.from('{"a":1}').toString('base64'),
  pathParameters: { proxy: 'value' },
  isBase64Encoded: true,
  stageVariables: { stage: 'variable' },
});

const send = (name: Name, event: Event): Promise<Result> => {
  const handler = handlers.get(name);
  if (!handler) throw new Error(`No function ${name}`);
  return handler(event, { awsRequestId: 'request-id' } as never);
};
const jsonOf = ({ body = '' }: Result) => JSON.parse(body);

/** The path that the HTTP API routes to each, and what it answers while no layer has tools. */
const ROUTED: readonly [Name, string, number, string][] = [
  ['get-app-info', '/api/App', 200, ''],
  ['get-request-count', '/api/App/requests', 200, ''],
  ['get-api-description', '/swagger/v1/swagger.json', 200, ''],
  ['get-resource', '/api/Fetch/GetResource', 503, `url=${encodeURIComponent('https://media.example/v')}`],
  ['not-found', '/api/Other', 404, ''],
];

describe.each(ROUTED)('%s', (name, path, status, query) => {
  it('answers a documented event', async () => {
    const result = await send(name, documented(path, { query, headers: { origin: ORIGIN } }));
    expect(result.statusCode).toBe(status);
    expect(result.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': ORIGIN,
    });
    expect(jsonOf(result)).toBeTypeOf('object');
    // What Lambda hands on has to be JSON all through.
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });

  it.each([undefined, 'wrong', `${SECRET} `, `${SECRET},${SECRET}`])('tells nothing to who says %j', async (borne) => {
    const event = documented(path, { query });
    if (borne === undefined) delete event.headers['x-reelay-origin'];
    else event.headers['x-reelay-origin'] = borne;
    const result = await send(name, event);
    expect([result.statusCode, jsonOf(result)]).toEqual([404, { title: 'Resource Not Found', status: 404 }]);
  });

  it('lets no preflight past the edge either', async () => {
    const event = documented(path, { method: 'OPTIONS', headers: { 'x-reelay-origin': '', origin: ORIGIN } });
    expect((await send(name, event)).statusCode).toBe(404);
  });
});

describe('get-resource without tools in its layer', () => {
  it('says that it is in maintenance, and when to ask again', async () => {
    const result = await send('get-resource', documented('/api/Fetch/GetResource', { query: ROUTED[3]?.[3] ?? '' }));
    expect(jsonOf(result)).toMatchObject({ status: 503, detail: expect.any(String) });
    expect(Number(result.headers?.['retry-after'])).toBeGreaterThan(0);
  });

  it.each(['', 'url=', 'url=nonsense', 'url=ftp%3A%2F%2Fmedia.example%2F'])('refuses %j first', async (query) => {
    const result = await send('get-resource', documented('/api/Fetch/GetResource', { query }));
    expect([result.statusCode, jsonOf(result)]).toEqual([400, { title: 'Bad Request', status: 400 }]);
  });

  it('answers an entry with a problem whose status survives the way', async () => {
    const entry = { kind: 'entry', deadline: Date.now() + 5_000 };
    const request = { url: 'https://media.example/v', entry: {}, within: ['https://media.example/list'] };
    const answer = await send('get-resource', { ...entry, request } as never);
    expect(answer).toMatchObject({ problem: { status: 503 } });
    const itself = { ...request, url: 'https://media.example/list' };
    expect(await send('get-resource', { ...entry, request: itself } as never)).toMatchObject({
      problem: { status: 404 },
    });
  });
});
