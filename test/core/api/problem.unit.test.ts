import { describe, expect, it } from 'vitest';
import { createProblem, problems, toProblem } from '../../../core/api/problem.ts';
import { UrlExpired } from '../../../core/errors/index.ts';

describe('problems', () => {
  it.each([
    [problems.badLink(), { type: '/problems/bad-url', title: 'Bad Request', status: 400 }, {}],
    [problems.notFound(), { type: '/problems/not-found', title: 'Resource Not Found', status: 404 }, {}],
    [
      problems.methodNotAllowed('GET'),
      { type: '/problems/method-not-allowed', title: 'Method Not Allowed', status: 405 },
      { allow: 'GET' },
    ],
    [
      problems.notDeliverable('Why.'),
      { type: '/problems/unsupported', title: 'Unsupported Media Type', status: 415, detail: 'Why.' },
      {},
    ],
    [
      problems.rangeNotSatisfiable(9),
      { type: '/problems/range-not-satisfiable', title: 'Range Not Satisfiable', status: 416 },
      { 'content-range': 'bytes */9' },
    ],
    [
      problems.tooManyRequests(3),
      { type: '/problems/too-many', title: 'Too Many Requests', status: 429 },
      { 'retry-after': '3' },
    ],
    [createProblem('site-error'), { type: '/problems/site-error', title: 'Fetch Failed', status: 502 }, {}],
    [
      problems.maintenance('Downloading FFmpeg'),
      {
        type: '/problems/maintenance',
        title: 'Downloading FFmpeg',
        status: 503,
        detail: expect.stringMatching(/^[^.]+\. [^.]+\.$/),
      },
      { 'retry-after': '5' },
    ],
  ])('$details.title', ({ details, headers }, expected, expectedHeaders) => {
    expect(details).toEqual(expected);
    expect(headers).toEqual(expectedHeaders);
  });

  it('carry a detail with 415 and 503 only', () => {
    const all = [problems.badRequest(), problems.notFound(), problems.internal(), createProblem('site-error')];
    for (const { details } of all) expect(details).not.toHaveProperty('detail');
    expect(problems.noCapacity().details.detail).toBeDefined();
  });
});

describe('toProblem', () => {
  it('returns a problem unchanged', () => {
    const problem = problems.notFound();
    expect(toProblem(problem)).toBe(problem);
  });

  it.each([
    [true, { type: '/problems/gone', title: 'Resource Not Found', status: 404 }],
    [false, { type: '/problems/refused', title: 'Fetch Failed', status: 502 }],
  ])('names the reason why a source refuses fresh URLs (gone: %s)', (isGone, details) => {
    expect(toProblem(new UrlExpired(isGone)).details).toEqual(details);
  });

  it('turns any other error into a 500 without detail, with the error as its cause', () => {
    const error = new Error('secret');
    const problem = toProblem(error);
    expect(problem.cause).toBe(error);
    expect(problem.message).not.toContain('secret');
    expect(problem.details).toEqual({ type: '/problems/internal', title: 'Internal Server Error', status: 500 });
  });
});
