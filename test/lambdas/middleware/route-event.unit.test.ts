import { describe, expect, it } from 'vitest';
import { routeEvent } from '../../../lambdas/middleware/dispatch.ts';
import { eventOf } from '../fakes.ts';

const handler = routeEvent({
  http: async (event, context) => ['http', event, context],
  direct: async (event: { readonly kind: 'entry' }, context) => ['direct', event, context],
});
const context = { awsRequestId: 'request' } as never;

describe('routeEvent', () => {
  it('dispatches an HTTP event to the HTTP handler', async () => {
    const event = eventOf('/api/App');
    expect(await handler(event, context)).toEqual(['http', event, context]);
  });

  it('dispatches an event with a kind to the handler for direct invocations', async () => {
    expect(await handler({ kind: 'entry' }, context)).toEqual(['direct', { kind: 'entry' }, context]);
  });
});
