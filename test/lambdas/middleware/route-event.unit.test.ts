import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { routeEvent, routeOperations } from '../../../lambdas/http-handler.ts';
import { eventOf } from '../fakes.ts';

const handler = routeEvent({
  http: async (event, context) => ['http', event, context],
  direct: async (event: { readonly kind: 'entry' }, context) => ['direct', event, context],
});
const context = { awsRequestId: 'request' } as never;

describe('routeEvent', () => {
  it('dispatches an event with a kind to the handler for direct invocations', async () => {
    expect(await handler({ kind: 'entry' }, context)).toEqual(['direct', { kind: 'entry' }, context]);
  });
});

describe('routeOperations', () => {
  const named = (name: string) => async () => ({ body: name });
  const route = routeOperations(
    { GetAppInfo: named('app'), GetRequestCount: named('count') },
    { origins: [], log: silentLog },
    named('fallback'),
  );

  it.each([
    ['/api/App', 'app'],
    ['/API/aPP?x', 'app'],
    ['/api/app/requests', 'count'],
    ['/api/app/', 'fallback'],
    ['/', 'fallback'],
    ['*', 'fallback'],
    ['//api/app', 'fallback'],
    ['/%ZZ', 'fallback'],
    ['/api/%', 'fallback'],
    ['/__proto__', 'fallback'],
    [`/${'x'.repeat(10_000)}`, 'fallback'],
  ])('routes %.40s to %s', async (path, name) => expect((await route(eventOf(path), context)).body).toBe(name));
});
