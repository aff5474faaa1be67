import { describe, expect, it } from 'vitest';
import {
  classifyResponse,
  type Entity,
  RangeRefused,
  type ResponseOutcome,
  unknownEntity,
} from '../src/upstream-request.ts';

describe('classifyResponse', () => {
  const wanted = { first: 100, last: 199 };
  const part = { 'content-range': 'bytes 100-199/1000', etag: '"a"' };
  const known: Entity = { size: 1000, etag: '"a"', lastModified: undefined };

  const refused = expect.any(RangeRefused);
  const saying = (message: string) => expect.objectContaining({ message });
  const changed = saying('Upstream entity has changed');
  const dated = { ...known, lastModified: 'Mon' };
  const badRange = saying('206 without a valid Content-Range');
  const otherRange = saying('206 with a range that was not requested');
  const contradiction = saying('Content-Length contradicts Content-Range');

  it.each<[string, number, Record<string, string>, Entity, Partial<ResponseOutcome>]>([
    ['the range', 206, part, known, { kind: 'bytes', skip: 0, length: 100 }],
    ['less of it', 206, { 'content-range': 'bytes 100-149/1000' }, known, { kind: 'bytes', length: 50 }],
    ['the range, first of all', 206, part, unknownEntity, { kind: 'bytes', entity: known }],
    ['a weak tag, which says nothing', 206, { ...part, etag: 'W/"b"' }, known, { kind: 'bytes' }],
    ['no tag this time', 206, { 'content-range': 'bytes 100-199/1000' }, known, { kind: 'bytes' }],
    ['an identity coding', 206, { ...part, 'content-encoding': 'identity' }, known, { kind: 'bytes' }],
    ['more than the range', 206, { 'content-range': 'bytes 100-200/1000' }, known, { kind: 'retry' }],
    ['an earlier range', 206, { 'content-range': 'bytes 99-199/1000' }, known, { kind: 'retry', error: otherRange }],
    ['no Content-Range', 206, {}, known, { kind: 'retry', error: badRange }],
    ['two lengths', 206, { ...part, 'content-length': '99' }, known, { kind: 'retry', error: contradiction }],
    ['one length twice', 206, { ...part, 'content-length': '100' }, known, { kind: 'bytes' }],
    ['another date beside the tag', 206, { ...part, 'last-modified': 'Tue' }, dated, { kind: 'bytes' }],
    ['another date', 206, { ...part, 'last-modified': 'Tue' }, { ...dated, etag: undefined }, { kind: 'doubtful' }],
    ['several ranges', 206, { 'content-type': 'multipart/byteranges; boundary=x' }, known, { kind: 'retry' }],
    ['another total', 206, { 'content-range': 'bytes 100-199/1001' }, known, { kind: 'changed' }],
    ['another tag', 206, { ...part, etag: '"b"' }, known, { kind: 'doubtful', error: changed }],
    ['another tag, without a size', 200, { etag: '"b"' }, known, { kind: 'changed' }],
    ['another tag of a server', 206, { ...part, etag: '"b"' }, { ...known, hasReplicas: true }, { kind: 'bytes' }],
    [
      'another size of a server',
      206,
      { 'content-range': 'bytes 100-199/1001' },
      { ...known, hasReplicas: true },
      { kind: 'changed' },
    ],
    ['no total', 206, { 'content-range': 'bytes 100-199/*' }, unknownEntity, { kind: 'unsized' }],
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
    ['304', 304, {}, known, { kind: 'unusable', error: saying('Upstream returned 304') }],
    ['204', 204, {}, known, { kind: 'unusable' }],
  ])('classifies %s', (_, status, headers, entity, verdict) => {
    expect(classifyResponse({ status, headers }, wanted, entity)).toMatchObject(verdict);
  });

  it.each<[number, Record<string, string>, Entity, string]>([
    [206, { ...part, 'content-encoding': ' GZIP ' }, known, 'The source sends the file compressed and without ranges.'],
    [206, { 'content-range': 'bytes 100-199/*' }, unknownEntity, '206 without a total size'],
    [200, {}, { ...unknownEntity }, '200 without a validator in response to a range request'],
    [416, { 'content-range': 'bytes */1000' }, known, 'Upstream refuses the range'],
    [416, { 'content-range': 'bytes */900' }, unknownEntity, 'Upstream refuses the range'],
    [500, {}, known, 'Upstream returned 500'],
  ])('says of %d with %j why it cannot be read', (status, headers, entity, message) =>
    expect(classifyResponse({ status, headers }, wanted, entity)).toMatchObject({ error: { message } }),
  );

  it.each([408, 425, 429, 500, 502, 599])('takes %d for an overload', (status) =>
    expect(classifyResponse({ status, headers: {} }, wanted, known)).toMatchObject({ kind: 'retry', isOverload: true }),
  );

  const nothing: Entity = { size: undefined, etag: undefined, lastModified: undefined };

  it.each<[string, { first: number; last?: number; isCompared?: boolean }, Entity, string | undefined, unknown]>([
    ['from its start, nothing being known', { first: 0 }, nothing, undefined, [0, undefined]],
    ['in the middle, nothing being known', { first: 5 }, nothing, undefined, 'unusable'],
    ['in the middle, where bytes are compared', { first: 5, isCompared: true }, nothing, undefined, [5, undefined]],
    ['in the middle, of known size', { first: 5 }, { ...nothing, size: 10 }, undefined, [5, 5]],
    ['in the middle, of known tag', { first: 5 }, { ...nothing, etag: '"a"' }, undefined, [5, undefined]],
    ['in the middle, of known date', { first: 5 }, { ...nothing, lastModified: 'Mon' }, undefined, [5, undefined]],
    ['beyond what is wanted', { first: 5, last: 7 }, unknownEntity, '100', [5, 3]],
    ['to its end', { first: 98, last: 200 }, unknownEntity, '100', [98, 2]],
    ['where it has just ended', { first: 100 }, unknownEntity, '100', [100, 0]],
    ['that ended earlier', { first: 101 }, unknownEntity, '100', 'refused'],
    ['of one byte', { first: 0 }, unknownEntity, '1', [0, 1]],
  ])('reads a whole entity %s', (_, { first, last, isCompared = false }, entity, length, expected) => {
    const headers: Record<string, string> = length === undefined ? {} : { 'content-length': length };
    const outcome = classifyResponse({ status: 200, headers }, { first, last, isCompared }, entity);
    expect(outcome.kind === 'bytes' ? [outcome.skip, outcome.length] : outcome.kind).toEqual(expected);
  });

  it('collects what responses say of the entity, without the space around it', () => {
    const merged = (entity: Entity, headers: Record<string, string>) => {
      const outcome = classifyResponse({ status: 200, headers }, { first: 0, last: undefined }, entity);
      return outcome.kind === 'bytes' ? outcome.entity : outcome.kind;
    };
    const said = { 'content-length': '9', etag: ' "a" ', 'last-modified': ' Mon ' };
    const full = { size: 9, etag: '"a"', lastModified: 'Mon' };
    expect(merged(unknownEntity, said)).toEqual(full);
    expect(merged(full, {})).toEqual(full);
    expect(merged({ ...full, size: undefined }, { 'content-length': '8' })).toEqual({ ...full, size: 8 });
    expect(merged({ ...full, etag: undefined }, { 'last-modified': 'Tue', etag: '"b"' })).toBe('changed');
    expect(merged(full, { 'last-modified': 'Tue' })).toBe('changed');
    expect(merged({ ...nothing, lastModified: 'Mon' }, { 'last-modified': 'Tue' })).toBe('changed');
    expect(merged({ ...full, lastModified: undefined }, { 'last-modified': 'Tue' })).toMatchObject({
      lastModified: 'Tue',
    });
  });
});
