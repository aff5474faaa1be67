import middy from '@middy/core';
import { describe, expect, it } from 'vitest';
import { NotDeliverable } from '../../../core/errors/index.ts';
import type { Event, Result } from '../../../lambdas/middleware/create-handler.ts';
import { measureResolve, resolveMetrics } from '../../../lambdas/middleware/resolve-metrics.ts';
import { eventOf } from '../fakes.ts';

/** The metrics of one response. */
async function measure(method: string, answer: () => Promise<Result>) {
  const counts: [outcome: string, milliseconds: number, problem?: string][] = [];
  const handler = middy<Event, Result>()
    .use(resolveMetrics({ resolved: (...count) => void counts.push(count) }))
    .handler(answer);
  const event = eventOf('/api/Fetch/GetResource', { method });
  const result = await handler(event, {} as never).catch((error) => error);
  return { counts, result };
}

describe('resolveMetrics', () => {
  it.each([
    [200, 'resolved'],
    [400, 'bad link'],
    [404, 'not found'],
    [415, 'not deliverable'],
    [502, 'failed'],
    [503, 'unavailable'],
    [429, 'other'],
    [500, 'other'],
  ])('records %d once as "%s" and leaves the response unchanged', async (statusCode, outcome) => {
    const given = { statusCode, headers: { a: 'b' }, body: '{}' };
    const { counts, result } = await measure('GET', async () => given);
    expect(result).toBe(given);
    expect(counts).toEqual([[outcome, expect.any(Number), undefined]]);
    expect(counts[0]?.[1]).toBeGreaterThanOrEqual(0);
  });

  it('records a response without a status as "other"', async () => {
    expect((await measure('GET', async () => ({}))).counts).toEqual([['other', expect.any(Number), undefined]]);
  });

  it.each(['HEAD', 'OPTIONS', 'POST'])('does not record %s, which resolves nothing', async (method) => {
    const { counts, result } = await measure(method, async () => ({ statusCode: 405 }));
    expect([counts, result]).toEqual([[], { statusCode: 405 }]);
  });

  it('does not record a handler that fails without a response, which Lambda counts', async () => {
    const { counts, result } = await measure('GET', () => Promise.reject(new Error('broke')));
    expect([counts, result]).toEqual([[], new Error('broke')]);
  });

  it('records the type of the problem, and a bot check as a failure', async () => {
    const counts: unknown[] = [];
    const handler = middy<Event, Result>()
      .use(resolveMetrics({ resolved: (outcome, _, problem) => void counts.push([outcome, problem]) }))
      .onError((request) => {
        request.response = { statusCode: 415 };
      })
      .handler(({ rawPath }) => {
        throw new NotDeliverable('Why.', { reason: rawPath === '/bot' ? 'bot-check' : 'drm' });
      });
    for (const path of ['/bot', '/drm']) await handler(eventOf(path), {} as never);
    expect(counts).toEqual([
      ['failed', 'bot-check'],
      ['not deliverable', 'drm'],
    ]);
  });

  it('records the response that inner middleware makes of a failure', async () => {
    const counts: string[] = [];
    const handler = middy<Event, Result>()
      .use(resolveMetrics({ resolved: (outcome) => void counts.push(outcome) }))
      .onError((request) => {
        request.response = { statusCode: 502 };
      })
      .handler(() => Promise.reject(new Error('broke')));
    expect(await handler(eventOf('/api/Fetch/GetResource'), {} as never)).toEqual({ statusCode: 502 });
    expect(counts).toEqual(['failed']);
  });
});

describe('measureResolve', () => {
  const measured = async (resolve: () => Promise<string>) => {
    const counts: unknown[] = [];
    const metrics = {
      resolved: (outcome: string, ms: number, problem?: string) => void counts.push([outcome, ms >= 0, problem]),
    };
    return { answer: await measureResolve(metrics, resolve).catch((error) => error), counts };
  };

  it('records and returns what is resolved', async () => {
    expect(await measured(async () => 'found')).toEqual({ answer: 'found', counts: [['resolved', true, undefined]] });
  });

  it.each([
    ['bot-check', 'failed'],
    ['drm', 'not deliverable'],
  ] as const)('records the type of the problem %s, and throws it', async (reason, outcome) => {
    const error = new NotDeliverable('Why.', { reason });
    expect(await measured(() => Promise.reject(error))).toEqual({ answer: error, counts: [[outcome, true, reason]] });
  });
});
