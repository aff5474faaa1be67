import { describe, expect, it } from 'vitest';
import { parseClipParameters, parseStartParameter } from '../../../core/api/stream-parameters.ts';

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
