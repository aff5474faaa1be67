import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../../../web/src/api/index.ts';
import { countNotesOf, matches, rowsOfPlaylist } from '../../../web/src/ui/playlist/playlist-rows.ts';

describe('rowsOfPlaylist', () => {
  it('numbers entries as the source does, with gaps for unavailable ones', () => {
    expect(rowsOfPlaylist([{}, {}, {}], [2, 5])).toEqual([
      { number: 1, index: 0 },
      { number: 2 },
      { number: 3, index: 1 },
      { number: 4, index: 2 },
      { number: 5 },
    ]);
  });

  it('has a gap with the reason for an entry that turns out to be gone', () => {
    const failure = new ApiFailure('not-found', { problem: 'gone' });
    expect(rowsOfPlaylist([{}, { isGone: true, failure }, {}])).toEqual([
      { number: 1, index: 0 },
      { number: 2, failure },
      { number: 3, index: 2 },
    ]);
  });

  it('numbers entries in their order without counts', () => {
    expect(rowsOfPlaylist([{}, {}])).toEqual([
      { number: 1, index: 0 },
      { number: 2, index: 1 },
    ]);
  });

  it('lists every entry, whatever places a server names', () => {
    const rows = rowsOfPlaylist([{}, {}], [1, 2, 900]);
    expect(rows.flatMap(({ index }) => index ?? [])).toEqual([0, 1]);
  });
});

describe('countNotesOf', () => {
  const counts = { total: 500, isCut: true, unavailable: [2, 17, 42] };

  it('has the total and the limit of a list that was cut', () => {
    expect(countNotesOf(197, 6, counts)).toEqual({ total: 500, unavailableCount: 3, limit: 200, pendingCount: 6 });
  });

  it('has no total where all entries are listed', () => {
    const notes = countNotesOf(3, 0, { total: 5, isCut: false, unavailable: [1, 2] });
    expect(notes).toEqual({ total: undefined, unavailableCount: 2, limit: undefined, pendingCount: 0 });
    expect(countNotesOf(3, 0)).toMatchObject({ total: undefined, unavailableCount: 0 });
  });
});

describe('matches', () => {
  const entry = { item: { requestedUrl: null, coverUrl: null, title: 'Étude: Straße', author: 'Ada' } };

  it.each(['etude', 'ADA', 'stra étu', 'Étude'])('finds %j', (filter) => expect(matches(entry, filter)).toBe(true));
  it.each(['etudes', 'ada x'])('does not find %j', (filter) => expect(matches(entry, filter)).toBe(false));
});
