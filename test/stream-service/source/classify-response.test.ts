import { describe, expect, it } from 'vitest';
import {
  classifyResponse,
  type Entity,
  RangeRefused,
  type ResponseOutcome,
  unknownEntity,
} from '../../../stream-service/source/classify-response.ts';

describe('classifyResponse', () => {
  const wanted = { first: 100, last: 199 };
  const part = { 'content-range': 'bytes 100-199/1000', etag: '"a"' };
  const known: Entity = { size: 1000, etag: '"a"', lastModified: undefined };

  const refused = expect.any(RangeRefused);
  const changed = expect.objectContaining({ message: 'Upstream entity has changed' });

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
    ['less than where it begins', 200, { 'content-length': '50' }, unknownEntity, { kind: 'refused', error: refused }],
    ['401', 401, {}, known, { kind: 'expired', isGone: false, isForbidden: false }],
    ['403', 403, {}, known, { kind: 'expired', isGone: false, isForbidden: true }],
    ['404', 404, {}, known, { kind: 'expired', isGone: true }],
    ['410', 410, {}, known, { kind: 'expired', isGone: true }],
    ['416', 416, { 'content-range': 'bytes */900' }, known, { kind: 'refused', error: changed }],
    ['429', 429, { 'retry-after': '7' }, known, { kind: 'retry', retryAfter: '7' }],
    ['503', 503, {}, known, { kind: 'retry' }],
    ['400', 400, {}, known, { kind: 'refused', error: refused }],
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
