import { describe, expect, it } from 'vitest';
import { parseGetParameters } from '../../../core/api/resolve-parameters.ts';
import {
  mediaQuery,
  parseClipParameters,
  parseMediaParameters,
  parseStartParameter,
} from '../../../core/api/stream-parameters.ts';

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

  it.each(
    [
      '',
      ' 1',
      '-1',
      '+1',
      '1.',
      '.5',
      '1e3',
      '0x10',
      'NaN',
      'Infinity',
      '1,5',
      '1:30',
      '1234567',
      '1.1234567',
      '٣',
    ].flatMap((value) => [{ start: value }, { end: value }]),
  )('rejects %j', (query) => {
    const [name] = Object.keys(query);
    expect(() => parseClipParameters(query)).toThrow(
      expect.objectContaining({
        details: {
          type: '/problems/bad-parameter',
          title: 'Bad Request',
          status: 400,
          detail: `${name} must be a number of seconds, such as 12.5`,
        },
      }),
    );
  });

  it.each([
    [{ start: '5', end: '5' }, 'end must be later than start'],
    [{ start: '5', end: '4.9' }, 'end must be later than start'],
    [{ end: '0' }, 'end must be later than start'],
    [{ start: ['1', '1'] }, 'start is given more than once'],
    [{ start: '1', end: ['2', '3'] }, 'end is given more than once'],
  ])('rejects %j: %s', (query, detail) => {
    expect(() => parseClipParameters(query)).toThrow(
      expect.objectContaining({
        details: { type: '/problems/bad-parameter', title: 'Bad Request', status: 400, detail },
      }),
    );
  });
});

describe('parseStartParameter', () => {
  it.each([
    [undefined, undefined],
    ['0', undefined],
    ['0.0', undefined],
    ['12.5', 12.5],
  ])('parses %j', (value, seconds) => expect(parseStartParameter(value)).toBe(seconds));

  it.each([['-1'], ['x'], [['1', '2']]])('rejects %j', (value) => {
    expect(() => parseStartParameter(value)).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ status: 400, detail: expect.stringMatching(/^start /) }),
      }),
    );
  });
});

describe('a window of a live stream', () => {
  const EPOCH = Date.UTC(2026, 10, 23, 20);

  it.each([
    ['from=start', { kind: 'from-start' }],
    ['segments=100-149', { kind: 'segments', first: 100, last: 149 }],
    ['segments=100-', { kind: 'segments', first: 100 }],
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
