import { describe, expect, it } from 'vitest';
import { isEmptyPlaylist, readFailure, readInfo } from '../src/worker/link-processes.ts';

/** A report as `yt-dlp --verbose` writes it. */
const report = (message: string) =>
  [
    '[debug] Encodings: locale UTF-8, fs utf-8',
    'WARNING: [generic] Falling back on generic information extractor',
    `ERROR: ${message}`,
    'Traceback (most recent call last):',
    '  File "/x/yt_dlp/extractor/common.py", line 1, in extract\n    raise ExtractorError(',
    'yt_dlp.utils._utils.ExtractorError: x',
    '',
  ].join('\n');
const BUG = '; please report this issue on  https://github.com/yt-dlp/yt-dlp/issues?q= , filling out the template.';

describe('readFailure', () => {
  it.each<[string, string, object]>([
    [
      'what the classifier of the worker says of the first error',
      `reelay: failed {"kind":"drm","message":"x"}\n${report('[Site] 1: x')}reelay: failed {"kind":"geo","message":"y"}\n`,
      { kind: 'drm', message: 'x' },
    ],
    [
      'the error where the classifier was cut off',
      `reelay: failed {"kind":\n${report('[Site] 1: This video is private')}`,
      { kind: 'expected', message: 'This video is private' },
    ],
    [
      'the status of an upstream response',
      report('[generic] Unable to download webpage: HTTP Error 404: Not Found (caused by <HTTPError 404: Not Found>)'),
      { kind: 'http', httpStatus: 404, message: 'Unable to download webpage: HTTP Error 404: Not Found' },
    ],
    ['a broken connection', report("[generic] Unable (caused by TransportError('reset'))"), { kind: 'network' }],
    [
      'a message of an extractor',
      report('[Site] 1: This video is private'),
      { kind: 'expected', message: 'This video is private' },
    ],
    [
      'a bug of an extractor',
      report(`[Site] 1: An extractor error has occurred.${BUG}`),
      { kind: 'bug', message: 'An extractor error has occurred.' },
    ],
    ['another exception', report("'NoneType' object is not iterable"), { kind: 'bug' }],
    [
      'an invalid option',
      'Usage: yt-dlp [OPTIONS]\n\nyt-dlp: error: no such option: --x\n',
      { kind: 'crash', message: 'yt-dlp: error: no such option: --x' },
    ],
    ['nothing', '', { kind: 'crash', message: '' }],
  ])('reads %s', (_, stderr, failure) => expect(readFailure(stderr)).toMatchObject(failure));

  it('reads the first of several reports', () => {
    const stderr = `${report('[Site] 1: This video is private')}${report(`[Site] 2: x${BUG}`)}`;
    expect(readFailure(stderr)).toMatchObject({ kind: 'expected', message: 'This video is private' });
  });

  it('bounds the message', () => {
    expect(readFailure(`ERROR: ${'x'.repeat(10_000)}`).message).toHaveLength(600);
    expect(readFailure('x'.repeat(10_000)).message).toHaveLength(600);
  });

  it('takes linear time for hostile output', () => {
    for (const part of [
      'ERROR: ',
      'reelay: failed ',
      '\n  File "',
      'A.',
      '[a] ',
      ' (caused by ',
      "'",
      '; please report',
    ])
      expect(readFailure(`ERROR: ${part.repeat(200_000)}`).kind).toBeTypeOf('string');
  });
});

describe('readInfo', () => {
  it.each<[string, unknown]>([
    ['{"id":"a"}', { id: 'a' }],
    [
      '{"rate": NaN, "list": [-Infinity, Infinity], "text": "NaN \\" Infinity"}',
      { rate: null, list: [null, null], text: 'NaN " Infinity' },
    ],
    ['null', undefined],
    ['', undefined],
    ['[]', undefined],
    ['{"id":', undefined],
    ['{}{}', undefined],
    ['hello {', undefined],
  ])('reads %j', (stdout, info) => expect(readInfo(stdout)).toEqual(info));

  it.each<[object, boolean]>([
    [{ _type: 'playlist', entries: [null] }, true],
    [{ _type: 'playlist' }, true],
    [{ _type: 'playlist', entries: [null, {}] }, false],
    [{ _type: 'video' }, false],
  ])('tells whether %j is a playlist without entries', (info, isEmpty) =>
    expect(isEmptyPlaylist({ ...info })).toBe(isEmpty),
  );
});
