import { describe, expect, it } from 'vitest';
import {
  createChunkSizer,
  planHeaders,
  planRange,
  planRecovery,
} from '../../../stream-service/source/request/request-plan.ts';

const sizer = () => createChunkSizer({ defaultChunkBytes: 1000, minChunkBytes: 100 });
const whole = { first: 0, last: undefined };

describe('planRange', () => {
  const chunks = sizer();
  const optional = { rangeRequirement: { isRequired: false, chunks: sizer() } };
  const required = { rangeRequirement: { isRequired: true, chunks: sizer() } };

  it.each([
    ['a file by ranges of the chunk size', { first: 50, last: 9999 }, { chunks }, false, 1049],
    ['the rest of a file that is smaller than a chunk', { first: 50, last: 60 }, { chunks }, false, 60],
    ['a file of unknown size without a Range header', whole, { chunks }, false, undefined],
    ['a segment without a Range header', whole, optional, false, undefined],
    ['a byte range of a segment in one request', { first: 5, last: 9999 }, optional, false, 9999],
    ['a segment of a source that requires ranges by chunks', whole, required, false, 999],
    ['a small range after a refusal without one', whole, optional, true, 99],
  ])('requests %s', (_, requested, policy, retryWithRange, last) => {
    expect(planRange(requested, policy, retryWithRange).range).toMatchObject({ first: requested.first, last });
  });
});

describe('planRecovery', () => {
  const range = { first: 0, last: 999 };

  it('requests a smaller range until minChunkBytes', () => {
    const chunks = sizer();
    expect(planRecovery({ range, chunks }, { chunks }, false, 416)).toBe('smaller-range');
    expect(planRecovery({ range: { first: 0, last: 99 }, chunks }, { chunks }, false, 416)).toBeUndefined();
  });

  it.each([
    [403, false, 'with-range'],
    [416, false, 'with-range'],
    [403, true, undefined],
    [401, false, undefined],
    [404, false, undefined],
    [410, false, undefined],
  ])('after %d without a Range header (already retried: %j) returns %j', (status, retryWithRange, recovery) => {
    const policy = { rangeRequirement: { isRequired: false, chunks: sizer() } };
    expect(planRecovery({ range: whole, chunks: undefined }, policy, retryWithRange, status)).toBe(recovery);
  });
});

describe('planHeaders', () => {
  it('sets Range and Accept-Encoding whatever the headers of the track say', () => {
    const url = 'https://cdn.example/a';
    const track = { headers: { 'User-Agent': 'x', Range: 'bytes=5-', 'Accept-Encoding': 'gzip' }, cookies: [] };
    const headers = planHeaders(url, track, { first: 1, last: 2 })(new URL(url));
    expect(headers).toMatchObject({ 'accept-encoding': 'identity', range: 'bytes=1-2' });
    expect(Object.keys(headers).filter((name) => /^(range|accept-encoding)$/i.test(name))).toHaveLength(2);
  });
});
