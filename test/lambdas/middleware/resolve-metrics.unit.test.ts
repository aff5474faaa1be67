import { describe, expect, it } from 'vitest';
import { problems } from '../../../core/api/problem.ts';
import { InMaintenance, NotDeliverable, StateUnavailable } from '../../../core/errors/index.ts';
import { measureResolve } from '../../../lambdas/metrics.ts';

describe('measureResolve', () => {
  const measured = async (resolve: () => Promise<string>) => {
    const counts: unknown[] = [];
    const metrics = {
      resolved: (outcome: string, problem?: string) => void counts.push([outcome, problem]),
    };
    return { answer: await measureResolve(metrics, resolve).catch((error) => error), counts };
  };

  it('records and returns what is resolved', async () => {
    expect(await measured(async () => 'found')).toEqual({ answer: 'found', counts: [['resolved', undefined]] });
  });

  it.each([
    [problems.badLink(), 'bad link', 'bad-url'],
    [problems.notFound(), 'not found', 'not-found'],
    [new NotDeliverable('Why.', { reason: 'drm' }), 'not deliverable', 'drm'],
    // What the site refuses this server for is no fault of the link.
    [new NotDeliverable('Why.', { reason: 'bot-check' }), 'failed', 'bot-check'],
    [new StateUnavailable('Gone'), 'failed', 'service-failed'],
    [new InMaintenance('Updating'), 'unavailable', 'maintenance'],
    [problems.tooManyRequests(1), 'other', 'too-many'],
    [new Error('broke'), 'other', 'internal'],
  ])('records %s as "%s" with the type of the problem, and throws it', async (error, outcome, problem) => {
    expect(await measured(() => Promise.reject(error))).toEqual({ answer: error, counts: [[outcome, problem]] });
  });
});
