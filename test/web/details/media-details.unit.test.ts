import { describe, expect, it } from 'vitest';
import { UnexpectedShape } from '../../../web/src/api/validate.ts';
import { createTexts } from '../../../web/src/lib/texts.ts';
import { asMediaDetails, asSegments } from '../../../web/src/ui/details/media-details.ts';
import { subtitleName } from '../../../web/src/ui/details/use-details.ts';
import { DETAILS } from '../fakes/resources.ts';

describe('subtitleName', () => {
  const german = createTexts('de', {});
  const named = (language: string, name: string | null) => ({ key: 'k', language, name, isAutomatic: false });
  it.each([
    ['the language, whatever the site calls it', [named('en', 'English')], 'Englisch'],
    [
      'the name of the site where two are alike',
      [named('en', 'English SDH'), named('en', 'English')],
      'Englisch (English SDH)',
    ],
    ['the name of the site for what is no language', [named('x9', 'Song texts')], 'Song texts'],
  ])('is %s', (_, all, name) => expect(subtitleName(all[0] ?? expect.fail(), all, german)).toBe(name));
});

describe('asMediaDetails', () => {
  it('keeps what the page shows', () => {
    const { coverUrl, durationSeconds, isLive, availableInSeconds, description, uploadDate, subtitles } = DETAILS;
    const dub = { key: 'dub', label: '129 kbps German (dubbed)', fileExtension: '.m4a', mimeType: 'audio/mp4' };
    const version = { language: 'de', isOriginal: false, isDubbed: true, isDescriptive: false, isDrc: false };
    const audio = [{ ...dub, description: null, fileSizeBytes: 5, bitrate: 129, ...version }];
    expect(asMediaDetails({ ...DETAILS, audio })).toEqual({
      segmentsKey: 'segments',
      coverUrl,
      durationSeconds,
      isLive,
      availableInSeconds,
      description,
      uploadDate,
      subtitles,
      audio: [{ ...dub, description: null, fileSizeBytes: 5, bitrate: 129, height: null, convertTo: null, version }],
      chapters: DETAILS.chapters.map(({ title, startSeconds }) => ({ title, startSeconds })),
    });
  });

  it('reads absent lists and values as empty', () => {
    expect(asMediaDetails({ isLive: true })).toEqual({
      coverUrl: null,
      durationSeconds: null,
      isLive: true,
      description: null,
      uploadDate: null,
      segmentsKey: null,
      availableInSeconds: null,
      chapters: [],
      audio: [],
      subtitles: [],
    });
  });

  it('drops a cover that is no web address', () => {
    expect(asMediaDetails({ coverUrl: 'javascript:alert(1)' }).coverUrl).toBeNull();
  });

  it('reads the segments of known categories', () => {
    const segments = [{ category: 'intro', startSeconds: 1, endSeconds: 2 }];
    expect(asSegments([...segments, { category: 'later', startSeconds: 1, endSeconds: 2 }])).toEqual(segments);
    expect(() => asSegments([{ category: 'intro', startSeconds: 'x' }])).toThrow(UnexpectedShape);
  });

  it.each([
    ['no object', 'text'],
    ['a subtitle without a key', { subtitles: [{ language: 'en' }] }],
    ['a chapter before the start', { chapters: [{ title: 'x', startSeconds: -1 }] }],
    ['audio that is no rendition', { audio: [7] }],
    ['a text that is a number', { description: 7 }],
    ['a list that is an object', { chapters: {} }],
    ['10,000 subtitles', { subtitles: Array(10_000).fill({ key: 'k', language: 'en' }) }],
  ])('rejects %s', (_, value) => expect(() => asMediaDetails(value)).toThrow(UnexpectedShape));
});
