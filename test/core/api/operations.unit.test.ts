import { describe, expect, it } from 'vitest';
import { getOperation } from '../../../core/api/operations.ts';

describe('getOperation', () => {
  it.each([
    ['GetAppInfo', ['GET', 'HEAD']],
    ['GetResource', ['GET']],
  ] as const)('%s has the methods %j', (id, methods) => expect(getOperation(id).methods).toEqual(methods));

  it('throws for an unknown operation', () =>
    // @ts-expect-error not the id of an operation
    expect(() => getOperation('Nothing')).toThrow('Unknown operation Nothing'));
});
