import { describe, expect, it } from 'vitest';
import { parsePlaylistCounts } from '../../../web/src/api/playlist-counts.ts';

describe('parsePlaylistCounts', () => {
  it.each([
    [null, undefined],
    ['listed=3', { total: undefined, isCut: false, unavailable: [] }],
    ['listed=197, total=500, cut, unavailable=(2 17 42)', { total: 500, isCut: true, unavailable: [2, 17, 42] }],
    ['unavailable=(4),total=7', { total: 7, isCut: false, unavailable: [4] }],
    ['unavailable=(9 2 2)', { total: undefined, isCut: false, unavailable: [2, 9] }],
    ['total=-1, unavailable=(0 x 1e9 3.5)', { total: undefined, isCut: false, unavailable: [] }],
    ['nonsense', { total: undefined, isCut: false, unavailable: [] }],
  ])('reads %j', (header, counts) => expect(parsePlaylistCounts(header)).toEqual(counts));

  it('bounds the places of a hostile header', () => {
    const places = Array.from({ length: 5000 }, (_, index) => index + 1).join(' ');
    expect(parsePlaylistCounts(`unavailable=(${places})`)?.unavailable).toHaveLength(1000);
  });
});
