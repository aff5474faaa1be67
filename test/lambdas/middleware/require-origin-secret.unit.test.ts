import { describe, expect, it } from 'vitest';
import { StateUnavailable } from '../../../core/errors/index.ts';
import { createOriginSecretCheck } from '../../../core/http/access-secrets.ts';
import { silentLog } from '../../../core/log/index.ts';
import { createHandler } from '../../../lambdas/http-handler.ts';
import { ALLOWED_ORIGIN, eventOf, jsonOf } from '../fakes.ts';

const SECRET = 'only-the-edge-knows';
const NOT_FOUND = { type: '/problems/not-found', title: 'Resource Not Found', status: 404 };

interface SentRequest {
  readonly secret?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const checkOf = (...secrets: string[]) => createOriginSecretCheck(async () => secrets);

/** The response of the shared middleware to a request with this secret, and how often its handler ran. */
async function ask(
  { secret, method = 'GET', headers = {} }: SentRequest,
  options: Partial<Parameters<typeof createHandler>[0]> = {},
) {
  let calls = 0;
  const handler = createHandler(
    { isFromEdge: checkOf(SECRET), methods: ['GET', 'HEAD'], origins: [ALLOWED_ORIGIN], log: silentLog, ...options },
    async () => {
      calls += 1;
      return { json: { right: true } };
    },
  );
  const all = { ...headers, ...(secret !== undefined && { 'x-reelay-origin': secret }) };
  const result = await handler(eventOf('/api/App', { method, headers: all }), {} as never);
  return { calls, result };
}

/** Missing, empty, wrong, almost right; repeated, as API Gateway joins it. */
const INVALID_SECRETS = [
  undefined,
  '',
  'wrong',
  SECRET.slice(1),
  SECRET.toUpperCase(),
  ` ${SECRET}`,
  `${SECRET},${SECRET}`,
];

describe('requireOriginSecret: a request with the secret', () => {
  it('reaches the handler', async () => {
    const { calls, result } = await ask({ secret: SECRET });
    expect([calls, result.statusCode, jsonOf(result)]).toEqual([1, 200, { right: true }]);
  });

  it('is accepted with the current and with the previous secret while a rotation is deployed', async () => {
    const isFromEdge = checkOf('next', SECRET);
    for (const secret of ['next', SECRET]) expect((await ask({ secret }, { isFromEdge })).calls).toBe(1);
    for (const secret of ['', ',', `next,${SECRET}`]) expect((await ask({ secret }, { isFromEdge })).calls).toBe(0);
  });

  it('is answered as a preflight when it is OPTIONS', async () => {
    const { result } = await ask({ secret: SECRET, method: 'OPTIONS', headers: { origin: ALLOWED_ORIGIN } });
    expect(result).toMatchObject({ statusCode: 204, headers: { allow: 'GET, HEAD, OPTIONS' } });
  });
});

describe('requireOriginSecret: a request without the secret', () => {
  it.each(INVALID_SECRETS)('is answered 404: %j', async (secret) => {
    const { calls, result } = await ask({ ...(secret !== undefined && { secret }) });
    expect([calls, result.statusCode, jsonOf(result)]).toEqual([0, 404, NOT_FOUND]);
  });

  it.each(['OPTIONS', 'POST', 'DELETE', 'HEAD'])(
    'gets no information about the methods of the path: %s',
    async (method) => {
      const { calls, result } = await ask({ secret: 'wrong', method, headers: { origin: ALLOWED_ORIGIN } });
      expect([calls, result.statusCode]).toEqual([0, 404]);
      expect(Object.keys(result.headers ?? {})).not.toContain('allow');
      expect(Object.keys(result.headers ?? {})).not.toContain('access-control-allow-methods');
      if (method === 'HEAD') expect(result).not.toHaveProperty('body');
      else expect(jsonOf(result)).toEqual(NOT_FOUND);
    },
  );

  it('gets the same response for an unknown path', async () => {
    const known = await ask({ secret: 'wrong' });
    const unknown = await ask({ secret: 'wrong' }, { methods: [] });
    expect(unknown).toEqual(known);
  });

  it('gets the problem as Accept prefers it', async () => {
    const { result } = await ask({ headers: { accept: 'text/json' } });
    expect(result.headers).toMatchObject({
      'content-type': 'text/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      vary: 'Accept, Origin',
    });
  });

  it('gets CORS headers for an allowed origin only', async () => {
    const allowed = await ask({ headers: { origin: ALLOWED_ORIGIN } });
    expect(allowed.result.headers?.['access-control-allow-origin']).toBe(ALLOWED_ORIGIN);
    const stranger = await ask({ headers: { origin: 'https://evil.example' } });
    expect(stranger.result.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

it('createHandler answers every request where there is no edge', async () => {
  expect((await ask({}, { isFromEdge: undefined as never })).result.statusCode).toBe(200);
});

it('a request is answered 502 while the table with the secrets does not respond', async () => {
  const isFromEdge = createOriginSecretCheck(() => Promise.reject(new StateUnavailable()));
  const { calls, result } = await ask({ secret: SECRET }, { isFromEdge });
  expect([calls, result.statusCode]).toEqual([0, 502]);
});
