import { describe, expect, it } from 'vitest';
import { secondsOf } from '../../../web/src/renditions/conversions.ts';
import { between, formatNumbers } from '../../../web/src/ui/playlist/playlist-rows.ts';
import { itemOf, referenceOf, renditionOf } from '../fakes/resources.ts';

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

describe('secondsOf', () => {
  const secondsAt = (fileSizeBytes: number | null) => {
    const mp3 = renditionOf({ fileExtension: '.mp3', mimeType: 'audio/mpeg', convertTo: 'mp3', bitrate: 192 });
    return secondsOf(itemOf({ audio: referenceOf({ ...mp3, fileSizeBytes }) }));
  };

  it('is the duration that the size of an MP3 tells', () => expect(secondsAt(24_000 * 61 + 300)).toBeCloseTo(61, 1));

  it('is unknown without one', () => {
    expect(secondsOf(itemOf())).toBeUndefined();
    expect(secondsAt(null)).toBeUndefined();
  });
});
