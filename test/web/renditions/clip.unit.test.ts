import { describe, expect, it } from 'vitest';
import { createApi } from '../../../web/src/api/api.ts';
import type { MediaInformation, MediaRendition } from '../../../web/src/api/contract.ts';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import {
  clipOf,
  formatTime,
  isClippable,
  parseTime,
  secondsOfSegments,
  withoutSegments,
} from '../../../web/src/renditions/clip.ts';

const rendition = (changes: Partial<MediaRendition> = {}): MediaRendition => ({
  key: 'K',
  label: '1080p',
  fileExtension: '.mp4',
  mimeType: 'video/mp4',
  urlType: 'Media',
  ...changes,
});
const item = (renditions: MediaRendition[]): MediaInformation => ({
  requestedUrl: 'https://a.example/',
  title: 'Title',
  author: 'Author',
  coverUrl: null,
  video: { renditions },
});

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

describe('clipOf', () => {
  it('names the file after its times, and has its share of the size', () => {
    const [choice] = choicesOf(item([rendition({ fileSizeBytes: 1000 })])).video;
    if (!choice) throw new Error('No choice');
    const clip = clipOf(choice, { startSeconds: 10, endSeconds: 3725.5 }, 7431);
    expect(clip.fileName).toBe(choice.fileName.replace(/\.\w+$/, ' (0-10–1-02-05.5)$&'));
    expect(clip.label).toBe('1080p 0:10–1:02:05.5');
    expect(clip).toMatchObject({ sizeBytes: 500, isSizeEstimate: true });
    expect(clip.clip).toEqual({ startSeconds: 10, endSeconds: 3725.5 });
    expect(clip.id).not.toBe(choice.id);
  });
});

describe('isClippable', () => {
  it.each([
    ['MP4', {}, true],
    ['a pair', { urlType: 'Combined' as const }, true],
    ['WebM', { fileExtension: '.webm' }, false],
  ])('of %s is %s', (_name, changes, expected) => {
    const [choice] = choicesOf(item([rendition(changes)])).video;
    expect(choice && isClippable(choice)).toBe(expected);
    expect(choice && isClippable({ ...choice, canSeek: false })).toBe(false);
  });

  it('of a conversion is true', () => {
    const audio = { renditions: [rendition({ convertTo: 'mp3', fileExtension: '.mp3' })] };
    const [choice] = choicesOf({ ...item([]), audio }).mp3;
    expect(choice && isClippable(choice)).toBe(true);
  });
});

describe('what is left out', () => {
  const segments = [
    { category: 'selfpromo', startSeconds: 15, endSeconds: 30 },
    { category: 'sponsor', startSeconds: 10, endSeconds: 20 },
    { category: 'sponsor', startSeconds: 12, endSeconds: 14 },
    { category: 'outro', startSeconds: 90, endSeconds: 100 },
  ] as const;

  it.each([
    [[], 0],
    [['sponsor'], 10],
    [['sponsor', 'selfpromo'], 20],
    [['sponsor', 'selfpromo', 'outro'], 30],
  ] as const)('of %j has %d s, overlaps once', (categories, seconds) =>
    expect(secondsOfSegments(segments, categories)).toBe(seconds),
  );

  it('is part of the address, and makes the file smaller', () => {
    const [choice] = choicesOf(item([rendition({ fileSizeBytes: 1000 })])).video;
    const shorter = withoutSegments(choice ?? expect.fail(), ['sponsor', 'outro'], 0.75);
    expect(shorter).toMatchObject({ sizeBytes: 750, isSizeEstimate: true });
    expect(createApi('').streamUrl(shorter.rendition, shorter)).toBe('/api/Stream/Media/K?skip=sponsor%2Coutro');
  });
});
