import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../../../web/src/api/index.ts';
import {
  between,
  createChooser,
  formatNumbers,
  isListed,
  matches,
  rowsOfPlaylist,
} from '../../../web/src/ui/playlist/playlist-rows.ts';
import { askable, selectionOf } from '../../../web/src/ui/signed-urls.ts';
import { itemOf, mediaOf, mp3Of, referenceOf, renditionOf, soundOf } from '../fakes/resources.ts';

const entry = { item: itemOf({ title: 'Étude: Straße', author: 'Ada' }) };

describe('rowsOfPlaylist', () => {
  it('numbers entries as the source does, with gaps for unavailable ones', () => {
    expect(rowsOfPlaylist([entry, entry, entry], { unavailable: [2, 5] })).toEqual([
      { number: 1, index: 0, entry },
      { number: 2 },
      { number: 3, index: 1, entry },
      { number: 4, index: 2, entry },
      { number: 5 },
    ]);
  });

  it('has a gap with title, link and reason for an entry that turns out to be gone', () => {
    const failure = new ApiFailure('not-found', { problem: 'gone' });
    const { title, requestedUrl: url } = entry.item;
    expect(rowsOfPlaylist([entry, { ...entry, isGone: true, failure }, entry])).toEqual([
      { number: 1, index: 0, entry },
      { number: 2, gone: { title, url, reason: 'gone' } },
      { number: 3, index: 2, entry },
    ]);
  });

  it('numbers a later page by the whole list, with what is known of its gaps', () => {
    const lost = { number: 202, url: 'https://a.example/', title: 'Lost', reason: 'private' };
    const known = new Map([[202, lost]]);
    expect(rowsOfPlaylist([entry, { ...entry, isGone: true }], { offset: 200, unavailable: [202], known })).toEqual([
      { number: 201, index: 0, entry },
      { number: 202, gone: lost },
      { number: 203, gone: { title: entry.item.title, url: entry.item.requestedUrl, reason: undefined } },
    ]);
  });

  it('numbers entries in their order without counts', () => {
    expect(rowsOfPlaylist([entry, entry])).toEqual([
      { number: 1, index: 0, entry },
      { number: 2, index: 1, entry },
    ]);
  });

  it('lists every entry, whatever places a server names', () => {
    const rows = rowsOfPlaylist([entry, entry], { unavailable: [1, 2, 900] });
    expect(rows.filter(isListed).map(({ index }) => index)).toEqual([0, 1]);
  });
});

describe('matches', () => {
  it.each(['etude', 'ADA', 'stra étu', 'Étude'])('finds %j', (filter) => expect(matches(entry, filter)).toBe(true));
  it.each(['etudes', 'ada x'])('does not find %j', (filter) => expect(matches(entry, filter)).toBe(false));
});

describe('the files of a list', () => {
  it('are those of its archive, for which MP3 is the only audio format to select', () => {
    const item = mediaOf([], [soundOf({ fileSizeBytes: 9e6 }), mp3Of({ fileSizeBytes: 9e6 })]);
    const chosenFor = (container: string) => {
      const preference = { group: 'audio', container } as const;
      const asked = selectionOf(askable(preference)).quality;
      return [asked, createChooser(askable(preference), 2)(item, 1)?.container];
    };
    expect(['WAV', 'MP3'].map(chosenFor)).toEqual([
      ['audio', 'M4A'],
      ['mp3', 'MP3'],
    ]);
  });
});

describe('createChooser', () => {
  it('chooses the file of each entry once', () => {
    let reads = 0;
    const item = {
      ...entry.item,
      author: null,
      get video() {
        reads++;
        return referenceOf(renditionOf({ label: '720p', height: 720 }));
      },
    };
    const choose = createChooser({}, 12);
    expect(choose(item, 3)).toMatchObject({ label: '720p', title: expect.stringMatching(/^03 - /) });
    expect(choose(item, 3)).toBe(choose(item, 3));
    expect(reads).toBe(1);
    expect(choose({ ...entry.item }, 4)).toBe(undefined);
  });
});

describe('formatNumbers', () => {
  it.each([
    [[], ''],
    [[4], '4'],
    [[1, 2, 3, 7], '1-3,7'],
    [[1, 3, 5, 6], '1,3,5-6'],
  ])('writes %j as %j', (numbers, text) => expect(formatNumbers(numbers)).toBe(text));
});

describe('between', () => {
  // As a filter shows them.
  const shown = [2, 5, 6, 9];

  it('returns the shown entries between two entries, in either direction', () => {
    expect(between(shown, 5, 9)).toEqual([5, 6, 9]);
    expect(between(shown, 6, 2)).toEqual([2, 5, 6]);
  });

  it('returns only the entry when the other one is not shown', () => expect(between(shown, 3, 6)).toEqual([6]));
});
