import { describe, expect, it } from 'vitest';
import { parseGetParameters } from '../../../core/api/resolve-parameters.ts';
import {
  mediaQuery,
  parseClipParameters,
  parseMediaParameters,
  parseStartParameter,
  withoutBlanks,
} from '../../../core/api/stream-parameters.ts';

const badRequest = (detail: unknown) =>
  expect.objectContaining({
    details: { type: '/problems/bad-parameter', title: 'Bad Request', status: 400, detail },
  });

it.each([
  [{}, {}],
  [{ subtitles: '', start: ' \t', tags: undefined }, {}],
  [
    { start: '1', end: '', subtitles: ' de' },
    { start: '1', subtitles: ' de' },
  ],
  [
    { start: ['', '1'], end: ['2', ' ', '3'], tags: ['', ''] },
    { start: '1', end: ['2', '3'] },
  ],
])('withoutBlanks leaves the values of %j that are not blank', (query, filled) =>
  expect(withoutBlanks(query)).toEqual(filled),
);

describe('parseMediaParameters', () => {
  it.each([
    [{}, undefined, undefined],
    [{ format: 'MP3' }, 'mp3', undefined],
    [{ format: ['mp3', 'ogg'] }, 'mp3', undefined],
    [{ format: 'mp4' }, undefined, undefined],
    [{ format: 'mp3', bitrate: '128' }, 'mp3', 128],
    [{ format: 'mp3', bitrate: '192' }, 'mp3', 192],
    [{ format: 'mp3', bitrate: '320' }, 'mp3', 320],
  ] as const)('parses %j', (query, format, bitrateKbps) =>
    expect(parseMediaParameters(query as never)).toMatchObject({ format, bitrateKbps }),
  );

  it.each<[object, string]>([
    ...['', '0', '127', '128.0', ' 128', '0128', '0x80', '1e2', '-192', '320k', '٣٢٠', 'NaN', '9'.repeat(400)].map(
      (bitrate): [object, string] => [{ format: 'mp3', bitrate }, 'bitrate must be 128, 192, 256, 320, or absent'],
    ),
    [{ format: 'mp3', bitrate: ['128', '128'] }, 'bitrate is given more than once'],
    [{ chapter: '2', mark: 'intro' }, 'mark cannot be combined with chapter. Ask for the part by start and end.'],
    [{ bitrate: '128' }, 'bitrate needs format=mp3'],
    [{ format: 'ogg', bitrate: '128' }, 'bitrate needs format=mp3'],
    ...['0', '1e3'].map((chapter): [object, string] => [
      { chapter },
      'chapter must be the number of a chapter, from 1',
    ]),
    [{ chapter: ['1', '2'] }, 'chapter is given more than once'],
    [{ chapter: '1', end: '1' }, 'chapter cannot be combined with start, end and segments'],
    [{ subtitles: '../' }, 'subtitles must be a language, such as en'],
    [{ subtitles: ['de', 'de'] }, 'subtitles is given more than once'],
    [{ tags: 'yes' }, 'tags must be true, or absent'],
    [{ tags: ['true', 'true'] }, 'tags is given more than once'],
  ])('rejects %j', (query, detail) => expect(() => parseMediaParameters(query as never)).toThrow(badRequest(detail)));
});

describe('parseClipParameters', () => {
  it.each([
    [{}, undefined],
    [
      { start: '10', end: '25.5' },
      { startSeconds: 10, endSeconds: 25.5 },
    ],
    [{ start: '0.000001' }, { startSeconds: 0.000_001, endSeconds: Number.POSITIVE_INFINITY }],
    [{ end: '999999' }, { startSeconds: 0, endSeconds: 999_999 }],
    [
      { start: '007', end: '8.0' },
      { startSeconds: 7, endSeconds: 8 },
    ],
  ])('parses %j', (query, times) => expect(parseClipParameters(query)).toEqual(times));

  const NO_SECONDS = ['', ' 1', '-1', '+1', '1.', '.5', '1e3', '0x10', 'NaN', 'Infinity', '1,5', '1:30', '1234567'];

  it.each<[object, string]>([
    ...[...NO_SECONDS, '1.1234567', '٣'].flatMap((value): [object, string][] => [
      [{ start: value }, 'start must be a number of seconds, such as 12.5'],
      [{ end: value }, 'end must be a number of seconds, such as 12.5'],
    ]),
    [{ start: '5', end: '5' }, 'end must be later than start'],
    [{ start: '5', end: '4.9' }, 'end must be later than start'],
    [{ end: '0' }, 'end must be later than start'],
    [{ start: ['1', '1'] }, 'start is given more than once'],
    [{ start: '1', end: ['2', '3'] }, 'end is given more than once'],
  ])('rejects %j: %s', (query, detail) =>
    expect(() => parseClipParameters(query as never)).toThrow(badRequest(detail)),
  );
});

describe('parseStartParameter', () => {
  it.each([
    [undefined, undefined],
    ['0', undefined],
    ['0.0', undefined],
    ['12.5', 12.5],
  ])('parses %j', (value, seconds) => expect(parseStartParameter(value)).toBe(seconds));

  it.each([['-1'], ['x'], [['1', '2']]])('rejects %j', (value) =>
    expect(() => parseStartParameter(value)).toThrow(badRequest(expect.stringMatching(/^start /))),
  );
});

describe('a window of a live stream', () => {
  const EPOCH = Date.UTC(2026, 10, 23, 20);

  it.each([
    ['segments=100-149', { kind: 'segments', first: 100, last: 149 }],
    ['start=-300', { kind: 'times', start: { secondsAgo: 300 } }],
    ['start=-300.5&end=-60', { kind: 'times', start: { secondsAgo: 300.5 }, end: { secondsAgo: 60 } }],
    ['end=-60', { kind: 'times', end: { secondsAgo: 60 } }],
    ['start=2026-11-23T20:00:00.000Z', { kind: 'times', start: { epochMs: EPOCH } }],
  ])('is parsed by Media and Get, and written again: %s', (text, window) => {
    const parameters = parseMediaParameters(Object.fromEntries(new URLSearchParams(text)));
    expect(parameters).toMatchObject({ window });
    expect(decodeURIComponent(mediaQuery(parameters).toString())).toBe(text);
    if (!text.startsWith('segments')) expect(parseGetParameters(`url=x&${text}`).window).toEqual(parameters.window);
  });

  it.each(['2026-11-23T21:00+01:00', '2026-11-23T21:00 01:00', '2026-11-23t20:00z'])('reads the time %s', (start) => {
    expect(parseMediaParameters({ start }).window).toMatchObject({ start: { epochMs: EPOCH } });
  });

  it('has a clip by seconds of its own only with segments', () => {
    const { clip, window } = parseMediaParameters({ segments: '1-9', start: '2', end: '5' });
    expect([clip, window]).toEqual([
      { startSeconds: 2, endSeconds: 5 },
      { kind: 'segments', first: 1, last: 9 },
    ]);
  });
});
