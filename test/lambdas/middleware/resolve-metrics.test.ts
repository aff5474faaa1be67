import { describe, expect, it } from 'vitest';
import type { Result } from '../../../lambdas/middleware/event.ts';
import { measured } from '../../../lambdas/middleware/resolve-metrics.ts';
import { eventOf } from '../fakes.ts';

/** What is counted of one answer. */
async function counted(method: string, answer: () => Promise<Result>) {
  const counts: [outcome: string, milliseconds: number][] = [];
  const handler = measured(answer, { resolved: (...count) => void counts.push(count) });
  const result = await handler(eventOf('/api/Fetch/GetResource', { method }), {} as never).catch((error) => error);
  return { counts, result };
}

describe('what is measured of an answer', () => {
  it.each([
    [200, 'resolved'],
    [400, 'bad link'],
    [404, 'not found'],
    [415, 'not deliverable'],
    [502, 'failed'],
    [503, 'unavailable'],
    [429, 'other'],
    [500, 'other'],
  ])('%d is %s, once, and goes on as it is', async (statusCode, outcome) => {
    const given = { statusCode, headers: { a: 'b' }, body: '{}' };
    const { counts, result } = await counted('GET', async () => given);
    expect(result).toBe(given);
    expect(counts).toEqual([[outcome, expect.any(Number)]]);
    expect(counts[0]?.[1]).toBeGreaterThanOrEqual(0);
  });

  it('an answer without a status is none that anybody knows', async () => {
    expect((await counted('GET', async () => ({}))).counts).toEqual([['other', expect.any(Number)]]);
  });

  it.each(['HEAD', 'OPTIONS', 'POST'])('%s resolves nothing, and is not counted', async (method) => {
    const { counts, result } = await counted(method, async () => ({ statusCode: 405 }));
    expect([counts, result]).toEqual([[], { statusCode: 405 }]);
  });

  it('leaves it to Lambda to count what broke', async () => {
    const { counts, result } = await counted('GET', () => Promise.reject(new Error('broke')));
    expect([counts, result]).toEqual([[], new Error('broke')]);
  });
});
