import { describe, expect, it } from 'vitest';
import { createAdaptiveParallelism } from '../../../stream-service/source/buffer/read-ahead-limits.ts';
import {
  classifyResponse,
  type Entity,
  type ResponseOutcome,
  unknownEntity,
} from '../../../stream-service/source/request/classify-response.ts';
import { createChunkSizer } from '../../../stream-service/source/request/request-plan.ts';
import { type RetryLimits, retryDelayMs } from '../../../stream-service/source/request/retry-policy.ts';

const MiB = 1024 * 1024;

describe('classifyResponse', () => {
  const wanted = { first: 100, last: 199 };
  const part = { 'content-range': 'bytes 100-199/1000', etag: '"a"' };
  const known: Entity = { size: 1000, etag: '"a"', lastModified: undefined };

  it.each<[string, number, Record<string, string>, Entity, Partial<ResponseOutcome>]>([
    ['the range', 206, part, known, { kind: 'bytes', skip: 0, length: 100 }],
    ['less of it', 206, { 'content-range': 'bytes 100-149/1000' }, known, { kind: 'bytes', length: 50 }],
    ['the range, first of all', 206, part, unknownEntity, { kind: 'bytes', entity: known }],
    ['a weak tag, which says nothing', 206, { ...part, etag: 'W/"b"' }, known, { kind: 'bytes' }],
    ['no tag this time', 206, { 'content-range': 'bytes 100-199/1000' }, known, { kind: 'bytes' }],
    ['an identity coding', 206, { ...part, 'content-encoding': 'identity' }, known, { kind: 'bytes' }],
    ['more than the range', 206, { 'content-range': 'bytes 100-200/1000' }, known, { kind: 'retry' }],
    ['an earlier range', 206, { 'content-range': 'bytes 99-199/1000' }, known, { kind: 'retry' }],
    ['no Content-Range', 206, {}, known, { kind: 'retry' }],
    ['two lengths', 206, { ...part, 'content-length': '99' }, known, { kind: 'retry' }],
    ['several ranges', 206, { 'content-type': 'multipart/byteranges; boundary=x' }, known, { kind: 'retry' }],
    ['another total', 206, { 'content-range': 'bytes 100-199/1001' }, known, { kind: 'changed' }],
    ['another tag', 206, { ...part, etag: '"b"' }, known, { kind: 'changed' }],
    ['no total', 206, { 'content-range': 'bytes 100-199/*' }, unknownEntity, { kind: 'unusable' }],
    ['no total, which is known', 206, { 'content-range': 'bytes 100-199/*' }, known, { kind: 'bytes' }],
    ['gzip', 206, { ...part, 'content-encoding': 'gzip' }, known, { kind: 'unusable' }],
    ['all of it', 200, { 'content-length': '1000' }, known, { kind: 'bytes', skip: 100, length: 100 }],
    ['all of something else', 200, { 'content-length': '1001' }, known, { kind: 'changed' }],
    ['all, without a length', 200, { etag: '"a"' }, known, { kind: 'bytes', skip: 100, length: 100 }],
    ['less than where it begins', 200, { 'content-length': '50' }, unknownEntity, { kind: 'refused', total: 50 }],
    ['401', 401, {}, known, { kind: 'expired', isGone: false }],
    ['403', 403, {}, known, { kind: 'expired', isGone: false }],
    ['404', 404, {}, known, { kind: 'expired', isGone: true }],
    ['410', 410, {}, known, { kind: 'expired', isGone: true }],
    ['416', 416, { 'content-range': 'bytes */900' }, known, { kind: 'refused', total: 900 }],
    ['429', 429, { 'retry-after': '7' }, known, { kind: 'retry', retryAfter: '7' }],
    ['503', 503, {}, known, { kind: 'retry' }],
    ['400', 400, {}, known, { kind: 'refused' }],
    ['304', 304, {}, known, { kind: 'unusable' }],
    ['204', 204, {}, known, { kind: 'unusable' }],
  ])('classifies %s', (_, status, headers, entity, verdict) => {
    expect(classifyResponse({ status, headers }, wanted, entity)).toMatchObject(verdict);
  });

  it('ignores Last-Modified only when a strong ETag agrees', () => {
    const before = { ...known, lastModified: 'Mon' };
    expect(classifyResponse({ status: 206, headers: { ...part, 'last-modified': 'Tue' } }, wanted, before).kind).toBe(
      'bytes',
    );
    const untagged = { ...before, etag: undefined };
    expect(classifyResponse({ status: 206, headers: { ...part, 'last-modified': 'Tue' } }, wanted, untagged).kind).toBe(
      'changed',
    );
  });

  it('rejects a full response without validators in the middle of a file', () => {
    const nothing = { size: undefined, etag: undefined, lastModified: undefined };
    expect(classifyResponse({ status: 200, headers: {} }, { first: 5, last: undefined }, nothing).kind).toBe(
      'unusable',
    );
  });
});

describe('retryDelayMs', () => {
  const limits: RetryLimits = {
    ...{ maxAttempts: 4, initialBackoffMs: 100, maxBackoffMs: 250 },
    ...{ maxRetryAfterMs: 5000, maxRefusals: 2 },
  };
  const now = Date.parse('Fri, 21 Nov 2025 10:00:00 GMT');

  it.each([
    [1, undefined, 100],
    [2, undefined, 200],
    [3, undefined, 250],
    [4, undefined, undefined],
    [4, '1', undefined],
    [1, '2', 2000],
    [1, '0', 100],
    [1, '99999', 5000],
    [1, 'Fri, 21 Nov 2025 10:00:03 GMT', 3000],
    [1, 'Fri, 21 Nov 2025 09:00:00 GMT', 100],
    [1, 'soon', 100],
    [1, '-5', 100],
  ])('after %d failures and Retry-After %j waits %j ms', (failures, retryAfter, wait) => {
    expect(retryDelayMs(failures, retryAfter, limits, now)).toBe(wait);
  });
});

describe('createChunkSizer', () => {
  const limits = { defaultChunkBytes: 8 * MiB, minChunkBytes: MiB };

  it('starts small and doubles while chunks arrive quickly', () => {
    const plan = createChunkSizer(limits);
    const sizes = [100, 100, 500, 100, 100].map((elapsed) => {
      plan.took(plan.next(), elapsed);
      return plan.next() / MiB;
    });
    expect(sizes).toEqual([2, 4, 4, 8, 8]);
  });

  it('halves a refused size, down to minChunkBytes', () => {
    const plan = createChunkSizer(limits);
    expect([plan.refused(8 * MiB), plan.limit() / MiB]).toEqual([true, 4]);
    expect([plan.refused(3 * MiB), plan.limit() / MiB]).toEqual([true, 1.5]);
    expect([plan.refused(1.5 * MiB), plan.limit() / MiB]).toEqual([true, 1]);
    expect([plan.refused(MiB), plan.limit() / MiB]).toEqual([false, 1]);
  });

  it('does not halve a size that was granted before', () => {
    const plan = createChunkSizer(limits);
    plan.granted(4 * MiB);
    expect(plan.refused(4 * MiB)).toBe(false);
    expect(plan.refused(8 * MiB)).toBe(true);
  });

  it.each([
    [300_000, 300_000, 300_000],
    [10 * MiB, MiB, 10 * MiB],
    [250 * MiB, MiB, 16 * MiB],
    [0, 1, 1],
  ])('respects the format maximum of %d bytes', (allowed, first, most) => {
    const plan = createChunkSizer(limits, allowed);
    expect([plan.next(), plan.limit()]).toEqual([first, most]);
  });
});

describe('createAdaptiveParallelism', () => {
  /** A source with limits per connection and in total, in bytes per millisecond. */
  const play = (each: number, all: number, seconds: number, clientBlocks = false, isBusy = false) => {
    let time = 0;
    const connections = createAdaptiveParallelism(4, { now: () => time, isBusy: () => isBusy });
    const counts: number[] = [];
    for (; time < seconds * 1000; time += 50) {
      connections.setBlocked(clientBlocks && time % 100 === 0);
      connections.addBytes(50 * Math.min(each * connections.count, all));
      if (counts.at(-1) !== connections.count) counts.push(connections.count);
    }
    return counts;
  };

  it.each([
    ['throttles each', 4_000, 1e9, [1, 4]],
    ['is slow in all', 4_000, 4_000, [1, 4, 1]],
    ['gives twice as much to two', 4_000, 8_000, [1, 4]],
    ['is fast', 100_000, 1e9, [1]],
  ])('adapts to a source that %s', (_, each, all, counts) => expect(play(each, all, 20)).toEqual(counts));

  it('uses one connection while the client is the bottleneck', () => expect(play(4_000, 1e9, 20, true)).toEqual([1]));

  it('uses one connection while the event loop is the bottleneck', () =>
    expect(play(4_000, 1e9, 20, false, true)).toEqual([1]));

  it.each([
    ['the client waits for the source', false, false, 512 * 1024],
    ['the client is the bottleneck', true, false, 0],
    ['the event loop is the bottleneck', false, true, 0],
  ])('sizes leadBytes while %s', (_, clientBlocks, isBusy, lead) => {
    let time = 0;
    const connections = createAdaptiveParallelism(1, { now: () => time, isBusy: () => isBusy });
    expect(connections.leadBytes).toBe(128 * 1024);
    for (; time < 5000; time += 50) {
      connections.setBlocked(clientBlocks && time % 100 === 0);
      connections.addBytes(50 * 4_000);
    }
    expect(connections.leadBytes).toBe(lead);
  });

  it('measures blockedMs', () => {
    let time = 0;
    const connections = createAdaptiveParallelism(4, { now: () => time, isBusy: () => false });
    const at = (next: number, act: () => void) => {
      time = next;
      act();
      return connections.blockedMs;
    };
    expect([
      at(100, () => connections.setBlocked(true)),
      at(150, () => undefined),
      at(200, () => connections.setBlocked(true)),
      // Bytes that were on their way, and the end of a measurement.
      at(400, () => connections.addBytes(1000)),
      at(500, () => connections.setBlocked(false)),
      at(600, () => connections.addBytes(1000)),
      at(700, () => connections.setBlocked(true)),
      at(710, () => connections.setBlocked(false)),
    ]).toEqual([0, 50, 100, 300, 400, 400, 400, 410]);
  });

  it('stays at one connection after reduceToOne', () => {
    let time = 0;
    const connections = createAdaptiveParallelism(4, { now: () => time, isBusy: () => false });
    for (; time < 5000; time += 50) connections.addBytes(200_000 * connections.count);
    expect(connections.count).toBe(4);
    connections.reduceToOne();
    for (; time < 20_000; time += 50) connections.addBytes(200_000);
    expect(connections.count).toBe(1);
  });
});
