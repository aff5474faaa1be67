import { describe, expect, it } from 'vitest';
import { toProblem } from '../../../../core/api/problem.ts';
import { toError } from '../../../../core/resolve/yt-dlp/failures.ts';
import type { WorkerFailure } from '../../../../layers/tools/worker/worker-protocol.ts';

const failure = (kind: WorkerFailure['kind'], more: Partial<WorkerFailure> = {}): WorkerFailure => ({ kind, ...more });

describe('toError', () => {
  it.each<[WorkerFailure, number]>([
    [failure('drm'), 415],
    [failure('site_drm'), 415],
    [failure('site_piracy'), 415],
    [failure('site_liability'), 415],
    [failure('login'), 415],
    [failure('geo'), 415],
    [failure('unsupported'), 415],
    [failure('bad_scheme'), 415],
    [failure('no_formats'), 404],
    [failure('upcoming'), 404],
    [failure('not_live'), 404],
    [failure('dns'), 404],
    [failure('egress_refused'), 404],
    [failure('http', { httpStatus: 404 }), 404],
    [failure('http', { httpStatus: 410 }), 404],
    [failure('http', { httpStatus: 401 }), 415],
    [failure('http', { httpStatus: 403 }), 415],
    [failure('http', { httpStatus: 451 }), 415],
    [failure('http', { httpStatus: 429 }), 502],
    [failure('http', { httpStatus: 500 }), 502],
    [failure('http', { httpStatus: 302 }), 502],
    [failure('http'), 502],
    [failure('proxy'), 502],
    [failure('timeout'), 502],
    [failure('network'), 502],
    [failure('too_large'), 415],
    [failure('memory'), 415],
    [failure('crash'), 502],
    [failure('cancelled'), 502],
    [failure('bug'), 502],
    [failure('something new' as WorkerFailure['kind']), 502],
  ])('maps %j to %d', (worker, status) => {
    const { details } = toProblem(toError(worker));
    expect(details.status).toBe(status);
    // By the contract only 415 of these statuses has a detail.
    expect(details.detail !== undefined).toBe(status === 415);
  });

  it.each([
    ['This video is private', 415],
    ['Sign in to confirm your age', 415],
    ['This video is only available for Premium users', 415],
    ['Private video. Sign in if you have been granted access', 415],
    ['Video unavailable', 404],
    ['This clip has been removed by its author', 404],
    ['The page does not exist', 404],
    ['The event has ended', 404],
    ['This video is DRM protected', 415],
    ['The site had a hiccup', 502],
    [undefined, 502],
  ])('maps the message %j to %d', (message, status) =>
    expect(toProblem(toError(failure('expected', { message }))).details.status).toBe(status),
  );

  it('keeps details for the log that no client sees', () => {
    const error = toError(failure('geo', { message: 'not in DE', extractor: 'Site' }));
    expect(error.cause).toMatchObject({ message: 'not in DE', kind: 'geo', extractor: 'Site' });
    expect(JSON.stringify(toProblem(error).details)).not.toContain('DE"');
  });
});
