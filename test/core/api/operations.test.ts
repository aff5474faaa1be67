import { describe, expect, it } from 'vitest';
import { getOperation, isStreamPath } from '../../../core/api/operations.ts';

describe('isStreamPath', () => {
  it.each([
    ['/api/Stream/Media/key?format=mp3', true],
    ['/API/stream/archive/progress/x', true],
    ['/api/Stream/Unknown', true],
    ['/api/stream?x=/', true],
    ['/api/Stream/Archive/', true],
    ['/api/STREAM/archive?url=/api/Stream/Media/x', false],
    ['/api/Fetch/GetResource?url=/api/stream/', false],
    ['/api/streams/x', false],
    ['/', false],
  ])('%s: %j', (url, expected) => expect(isStreamPath(url)).toBe(expected));
});

describe('getOperation', () => {
  it.each([
    ['GetAppInfo', ['GET', 'HEAD']],
    ['GetResource', ['GET']],
  ] as const)('%s has the methods %j', (id, methods) => expect(getOperation(id).methods).toEqual(methods));

  it('throws for an unknown operation', () =>
    // @ts-expect-error not the id of an operation
    expect(() => getOperation('Nothing')).toThrow('Unknown operation Nothing'));
});
