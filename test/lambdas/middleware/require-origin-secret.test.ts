import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import { createHandler, type HandlerOptions } from '../../../lambdas/middleware/create-handler.ts';
import { ALLOWED_ORIGIN, eventOf, jsonOf } from '../fakes.ts';

const SECRET = 'only-the-edge-knows';
const NOT_FOUND = { title: 'Resource Not Found', status: 404 };

interface Asking {
  readonly borne?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the shared chain answers to whoever bears this, and how often it got through to its function. */
async function ask({ borne, method = 'GET', headers = {} }: Asking, options: Partial<HandlerOptions> = {}) {
  let calls = 0;
  const handler = createHandler(
    { originSecret: SECRET, methods: ['GET', 'HEAD'], origins: [ALLOWED_ORIGIN], log: silentLog, ...options },
    async () => {
      calls += 1;
      return { json: { right: true } };
    },
  );
  const all = { ...headers, ...(borne !== undefined && { 'x-reelay-origin': borne }) };
  const result = await handler(eventOf('/api/App', { method, headers: all }), {} as never);
  return { calls, result };
}

/** Missing, empty, wrong, nearly right; sent twice, as API Gateway joins it. */
const STRANGERS = [undefined, '', 'wrong', SECRET.slice(1), SECRET.toUpperCase(), ` ${SECRET}`, `${SECRET},${SECRET}`];

describe('who comes through the edge', () => {
  it('is answered', async () => {
    const { calls, result } = await ask({ borne: SECRET });
    expect([calls, result.statusCode, jsonOf(result)]).toEqual([1, 200, { right: true }]);
  });

  it('is told by a preflight what the path has', async () => {
    const { result } = await ask({ borne: SECRET, method: 'OPTIONS', headers: { origin: ALLOWED_ORIGIN } });
    expect(result).toMatchObject({ statusCode: 204, headers: { allow: 'GET, HEAD, OPTIONS' } });
  });
});

describe('who does not come through the edge', () => {
  it.each(STRANGERS)('and says %j, is told nothing', async (borne) => {
    const { calls, result } = await ask({ ...(borne !== undefined && { borne }) });
    expect([calls, result.statusCode, jsonOf(result)]).toEqual([0, 404, NOT_FOUND]);
  });

  it.each(['OPTIONS', 'POST', 'DELETE', 'HEAD'])('does not even learn what %s would do', async (method) => {
    const { calls, result } = await ask({ borne: 'wrong', method, headers: { origin: ALLOWED_ORIGIN } });
    expect([calls, result.statusCode]).toEqual([0, 404]);
    expect(Object.keys(result.headers ?? {})).not.toContain('allow');
    expect(Object.keys(result.headers ?? {})).not.toContain('access-control-allow-methods');
    if (method === 'HEAD') expect(result).not.toHaveProperty('body');
    else expect(jsonOf(result)).toEqual(NOT_FOUND);
  });

  it('hears the same of a path that nobody knows', async () => {
    const known = await ask({ borne: 'wrong' });
    const unknown = await ask({ borne: 'wrong' }, { methods: [] });
    expect(unknown).toEqual(known);
  });

  it.each(['text/plain', 'text/json', 'application/json'])('hears it in %s where that is asked for', async (accept) => {
    const { result } = await ask({ headers: { accept } });
    expect(result.headers).toMatchObject({
      'content-type': `${accept}; charset=utf-8`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      vary: 'Accept, Origin',
    });
  });

  it('may be a page of an allowed origin, which can read that; no other can', async () => {
    const allowed = await ask({ headers: { origin: ALLOWED_ORIGIN } });
    expect(allowed.result.headers?.['access-control-allow-origin']).toBe(ALLOWED_ORIGIN);
    const stranger = await ask({ headers: { origin: 'https://evil.example' } });
    expect(stranger.result.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

it('answers whoever asks where no edge says anything', async () => {
  expect((await ask({}, { originSecret: '' })).result.statusCode).toBe(200);
});
