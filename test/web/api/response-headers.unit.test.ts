import { describe, expect, it } from 'vitest';
import { playlistCountsOf } from '../../../web/src/api/response-headers.ts';

describe('playlistCountsOf', () => {
  it.each([
    ['listed=3', { total: undefined, isCut: false, unavailable: [] }],
    ['listed=197, total=500, cut, unavailable=(2 17 42)', { total: 500, isCut: true, unavailable: [2, 17, 42] }],
    ['unavailable=(4),total=7', { total: 7, isCut: false, unavailable: [4] }],
  ])('reads %s', (header, counts) => expect(playlistCountsOf(new Headers({ 'x-playlist': header }))).toEqual(counts));

  it('is undefined for a link that is no playlist', () => expect(playlistCountsOf(new Headers())).toBeUndefined());
});
