import { describe, expect, it } from 'vitest';
import { type Query, readSelection, type Selection, writeSelection } from '../../../core/api/index.ts';

type Case = readonly [query: Query, selection: Selection];

const badRequest = (detail: string) =>
  expect.objectContaining({
    details: { type: '/problems/bad-parameter', title: 'Bad Request', status: 400, detail },
  });

const readLink = (text: string) => readSelection('Get', new URLSearchParams(text));

describe('what Media is asked for', () => {
  it.each<Case>([
    [{}, {}],
    [{ subtitles: '', start: ' \t', tags: undefined }, {}],
    [{ start: ['', '1'], end: ['', ' ', '3'] }, { clip: { startSeconds: 1, endSeconds: 3 } }],
    [{ format: 'MP3' }, { format: 'mp3' }],
    [{ format: ['mp3', 'ogg'] }, { format: 'mp3' }],
    [{ format: 'mp4' }, {}],
    [
      { format: 'mp3', bitrate: '192', tags: 'true' },
      { format: 'mp3', bitrateKbps: 192, hasTags: true },
    ],
    [
      { mark: 'intro', tags: 'false' },
      { mark: ['intro'], hasTags: true },
    ],
    [{ start: '10', end: '25.5' }, { clip: { startSeconds: 10, endSeconds: 25.5 } }],
    [{ start: '0.000001' }, { clip: { startSeconds: 0.000_001, endSeconds: Number.POSITIVE_INFINITY } }],
    [{ end: '999999' }, { clip: { startSeconds: 0, endSeconds: 999_999 } }],
    [{ start: '007', end: '8.0' }, { clip: { startSeconds: 7, endSeconds: 8 } }],
    [
      { segments: '1-9', start: '2', end: '5' },
      { clip: { startSeconds: 2, endSeconds: 5 }, window: { kind: 'segments', first: 1, last: 9 } },
    ],
  ])('is read from %j', (query, selection) => expect(readSelection('Media', query)).toEqual(selection));

  const NO_SECONDS = [' 1', '-1x', '+1', '1.', '.5', '1e3', '0x10', 'NaN', 'Infinity', '1,5', '1:30', '1234567'];

  it.each<[Query, string]>([
    ...['0', '127', '128.0', ' 128', '0128', '0x80', '1e2', '-192', '320k', '٣٢٠', 'NaN', '9'.repeat(400)].map(
      (bitrate): [Query, string] => [{ format: 'mp3', bitrate }, 'bitrate must be 128, 192, 256, 320, or absent'],
    ),
    [{ bitrate: '128' }, 'bitrate applies to MP3 only'],
    [{ format: 'ogg', bitrate: '128' }, 'bitrate applies to MP3 only'],
    [{ chapter: '2', mark: 'intro' }, 'mark cannot be combined with chapter'],
    ...['0', '1e3'].map((chapter): [Query, string] => [{ chapter }, 'chapter must be the number of a chapter, from 1']),
    [{ chapter: '1', end: '1' }, 'chapter cannot be combined with end'],
    [{ subtitles: '../' }, 'subtitles must be a language, such as en'],
    [{ tags: 'yes' }, 'tags must be true, or absent'],
    ...[...NO_SECONDS, '1.1234567', '٣'].flatMap((value): [Query, string][] => [
      [{ start: value }, 'start must be a number of seconds, such as 12.5'],
      [{ end: value }, 'end must be a number of seconds, such as 12.5'],
    ]),
    [{ start: '5', end: '5' }, 'end must be later than start'],
    [{ start: '5', end: '4.9' }, 'end must be later than start'],
    [{ end: '0' }, 'end must be later than start'],
    ...['bitrate', 'tags', 'subtitles', 'audio', 'start', 'end', 'chapter', 'skip', 'mark'].map(
      (name): [Query, string] => [{ [name]: ['1', '1'] }, `${name} is given more than once`],
    ),
  ])('is refused as %j', (query, detail) => expect(() => readSelection('Media', query)).toThrow(badRequest(detail)));
});

describe('where Combined starts', () => {
  it.each([
    ['0.0', undefined],
    ['12.5', 12.5],
  ])('is read from %j', (start, seconds) =>
    expect(readSelection('Combined', { start }).fromKeyframeSeconds).toBe(seconds),
  );

  it.each(['-1', 'x'])('is refused as %j', (start) =>
    expect(() => readSelection('Combined', { start })).toThrow(
      badRequest('start must be a number of seconds, such as 12.5'),
    ),
  );
});

describe('a window of a live stream', () => {
  const EPOCH = Date.UTC(2026, 10, 23, 20);

  it.each<[string, Selection['window']]>([
    ['segments=100-149', { kind: 'segments', first: 100, last: 149 }],
    ['start=-300', { kind: 'times', start: { secondsAgo: 300 } }],
    ['start=-300.5&end=-60', { kind: 'times', start: { secondsAgo: 300.5 }, end: { secondsAgo: 60 } }],
    ['end=-60', { kind: 'times', end: { secondsAgo: 60 } }],
    ['start=2026-11-23T20:00:00.000Z', { kind: 'times', start: { epochMs: EPOCH } }],
  ])('is read by Media and Get, and written again: %s', (text, window) => {
    const selection = readSelection('Media', Object.fromEntries(new URLSearchParams(text)));
    expect(selection).toEqual({ window });
    expect(decodeURIComponent(writeSelection('Media', selection).toString())).toBe(text);
    if (!text.startsWith('segments')) expect(readLink(`url=x&${text}`)).toEqual({ window });
  });

  it.each(['2026-11-23T21:00+01:00', '2026-11-23T21:00 01:00', '2026-11-23t20:00z'])('reads the time %s', (start) => {
    expect(readSelection('Media', { start }).window).toMatchObject({ start: { epochMs: EPOCH } });
  });
});

describe('what Archive is asked for', () => {
  it.each<Case>([
    [{}, {}],
    [
      { format: 'ZIP', codec: 'any', from: '12' },
      { codec: 'any', from: 12 },
    ],
    [{ quality: '720p' }, { quality: { maxHeight: 720 } }],
    [{ quality: ' mp3 ', format: '', from: '' }, { quality: 'mp3' }],
    [
      { quality: ['worst', 'best'], from: ['2', '3'] },
      { quality: 'worst', from: 2 },
    ],
    [{ jobId: [' a-1 ', 'b'] }, { jobId: 'a-1' }],
    [
      { quality: 'mp3', bitrate: '320', tags: 'true' },
      { quality: 'mp3', bitrateKbps: 320, hasTags: true },
    ],
  ])('is read from %j', (query, selection) => expect(readSelection('Archive', query)).toEqual(selection));

  it.each<[Query, string]>([
    [{ format: 'tar' }, 'format must be zip, or absent'],
    [{ quality: '8k' }, 'quality must be best, worst, audio, mp3, or a height such as 1080p'],
    [{ codec: 'h264' }, 'codec must be any, or absent'],
    ...['0', '-1', '1e7', '10M', '1.5'].map((maxBytes): [Query, string] => [
      { maxBytes },
      'maxBytes must be a number of bytes, such as 10000000',
    ]),
    [{ maxBytes: '9', audio: 'All' }, 'maxBytes cannot be combined with audio=all'],
    [{ bitrate: '320' }, 'bitrate applies to MP3 only'],
    [{ quality: 'mp3', bitrate: '321' }, 'bitrate must be 128, 192, 256, 320, or absent'],
    [{ tags: 'yes' }, 'tags must be true, or absent'],
    [{ jobId: 'a b' }, 'jobId must have at most 64 letters, digits, or any of . _ ~ -'],
    ...['0', '-1', '1.5', '1e3', '٣', '9999999', 'x'].map((from): [Query, string] => [
      { from },
      'from must be the number of an entry, such as 12',
    ]),
  ])('is refused as %j', (query, detail) => expect(() => readSelection('Archive', query)).toThrow(badRequest(detail)));
});

it.each([
  ['', 'rss', 'mp3'],
  ['format=RSS&quality=audio', 'rss', 'audio'],
  ['format=m3u8', 'm3u8', 'best'],
])('a feed of %j has a format and a quality', (text, feedFormat, quality) =>
  expect(readSelection('Feed', new URLSearchParams(text))).toEqual({ feedFormat, quality }),
);
