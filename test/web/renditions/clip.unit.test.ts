import { describe, expect, it } from 'vitest';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import {
  changed,
  clipFrom,
  formatTime,
  isClippable,
  parseTime,
  secondsOfSegments,
} from '../../../web/src/renditions/clip.ts';
import { mediaOf, pathOf, renditionOf as rendition } from '../fakes/resources.ts';

describe('parseTime', () => {
  it.each([
    ['65', 65],
    [' 1:05 ', 65],
    ['1:05.5', 65.5],
    ['1:05,25', 65.25],
    ['1:02:03', 3723],
    ['0', 0],
    ['90:00', 5400],
  ])('reads %j as %d s', (text, seconds) => expect(parseTime(text)).toBe(seconds));

  it.each(['', 'x', '-1', '1:', ':5', '1:2:3:4', '1e3', '1.2345', 'NaN'])('rejects %j', (text) =>
    expect(parseTime(text)).toBeUndefined(),
  );
});

describe('formatTime', () => {
  it.each([
    [0, '0:00'],
    [65.54, '1:05.5'],
    [59.96, '1:00'],
    [3723, '1:02:03'],
    [36_000, '10:00:00'],
  ])('writes %d s as %s, which parses', (seconds, text) => {
    expect(formatTime(seconds)).toBe(text);
    expect(parseTime(text)).toBeCloseTo(seconds, 0);
  });
});

describe('changed', () => {
  const [choice] = choicesOf(mediaOf([rendition({ fileSizeBytes: 1000 })])).video;

  it('names a part after its times, and has its share of the size', () => {
    const clip = changed(choice ?? expect.fail(), { clip: { startSeconds: 10, endSeconds: 3725.5 } }, 0.5);
    expect(clip).toMatchObject({ label: '1080p 0:10–1:02:05.5', sizeBytes: 500, isSizeEstimate: true });
    expect(pathOf(clip)).toBe('/api/Stream/Media/K?start=10&end=3725.5');
  });

  it.each([
    [{ skipsSponsors: true }, 'skip=sponsor'],
    [{ subtitles: 'pt-BR' }, 'subtitles=pt-BR'],
  ])('asks for %j', (options, query) => {
    const other = changed(choice ?? expect.fail(), options);
    expect(other).toMatchObject({ label: '1080p', sizeBytes: 1000, isSizeEstimate: true });
    expect(pathOf(other)).toBe(`/api/Stream/Media/K?${query}`);
  });
});

describe('isClippable', () => {
  it.each([
    ['MP4', {}, true],
    ['a pair', { urlType: 'Combined' as const }, true],
    ['WebM', { fileExtension: '.webm' }, false],
    ['a conversion', { convertTo: 'mp3', fileExtension: '.mp3' }, true],
  ])('of %s is %s', (_name, changes, expected) => {
    const [choice] = choicesOf(mediaOf([rendition(changes)])).video;
    expect(choice && isClippable(choice)).toBe(expected);
    expect(choice && isClippable({ ...choice, canSeek: false })).toBe(false);
  });
});

it.each([
  [[], 0],
  [
    [
      [15, 30],
      [10, 20],
      [12, 14],
      [90, 100],
    ],
    30,
  ],
])('skipped segments %j are %d s: overlaps count once', (times, seconds) => {
  const segments = times.map(([startSeconds = 0, endSeconds = 0]) => ({ startSeconds, endSeconds }));
  expect(secondsOfSegments(segments)).toBe(seconds);
});

describe('clipFrom', () => {
  it.each([
    [0, 60, 0, 30],
    [12.7, 60, 12, 42],
    [55, 60.4, 30, 60],
    [3, 8.03, 0, 8],
    [0, 0.4, 0, 1],
  ])('at %d s of %d s is from %d to %d', (seconds, durationSeconds, startSeconds, endSeconds) =>
    expect(clipFrom(seconds, durationSeconds)).toEqual({ startSeconds, endSeconds }),
  );
});
