import { describe, expect, it } from 'vitest';
import { readFailure } from '../src/worker/failure-report.ts';
import { isEmptyPlaylist, readInfo } from '../src/worker/link-processes.ts';

/** A report as `yt-dlp --verbose` writes it. */
const report = (message: string, { frames = ['extract'], error = 'yt_dlp.utils._utils.ExtractorError: x' } = {}) =>
  [
    '[debug] Encodings: locale UTF-8, fs utf-8',
    'WARNING: [generic] Falling back on generic information extractor',
    `ERROR: ${message}`,
    'Traceback (most recent call last):',
    ...frames.map((name) => `  File "/x/yt_dlp/extractor/common.py", line 1, in ${name}\n    raise ExtractorError(`),
    error,
    '',
  ].join('\n');
const BUG = '; please report this issue on  https://github.com/yt-dlp/yt-dlp/issues?q= , filling out the template.';

describe('readFailure', () => {
  it.each<[string, string, object]>([
    [
      'the status of an upstream response',
      report('[generic] Unable to download webpage: HTTP Error 404: Not Found (caused by <HTTPError 404: Not Found>)'),
      {
        kind: 'http',
        httpStatus: 404,
        extractor: 'generic',
        message: 'Unable to download webpage: HTTP Error 404: Not Found',
      },
    ],
    [
      'a DRM helper',
      report('[Site] 1: DRM', { frames: ['report_drm', 'raise_no_formats'] }),
      { kind: 'drm', extractor: 'Site' },
    ],
    [
      'DRM of all formats',
      report('[Site] 1: This video is DRM protected', { frames: ['raise_no_formats'] }),
      { kind: 'drm' },
    ],
    ['a login helper', report('[Site] 1: Sign in', { frames: ['raise_login_required'] }), { kind: 'login' }],
    [
      'a region helper',
      report('[Site] 1: Not here', { frames: ['InfoExtractor.raise_geo_restricted'] }),
      { kind: 'geo' },
    ],
    [
      'an item without formats',
      report('[Site] 1: No video formats found!', { frames: ['raise_no_formats'] }),
      { kind: 'no_formats' },
    ],
    [
      'periods that do not make one file',
      `WARNING: [generic] The periods of this manifest do not make one file\n${report(`[Site] 1: No video formats found!${BUG}`, { frames: ['raise_no_formats'] })}`,
      { kind: 'separate_periods' },
    ],
    [
      'images without formats',
      report('[Site] 1: Requested format is not available. Use --list-formats for a list of available formats'),
      { kind: 'no_formats' },
    ],
    ['a page without media', 'ERROR: Unsupported URL: https://a.example/\n', { kind: 'unsupported' }],
    ['a region error', report('x', { error: 'yt_dlp.utils._utils.GeoRestrictedError: x' }), { kind: 'geo' }],
    ['an offline channel', report('x', { error: 'yt_dlp.utils._utils.UserNotLive: x' }), { kind: 'not_live' }],
    ['the message of an offline channel', 'ERROR: [A] 1: The channel is not currently live\n', { kind: 'not_live' }],
    [
      'a site of DRM',
      'ERROR: [DRM] The requested site is known to use DRM protection.\nPlease DO NOT open\n',
      { kind: 'site_drm' },
    ],
    ['a site of piracy', 'ERROR: [Piracy] This website is no longer supported\n', { kind: 'site_piracy' }],
    [
      'an unknown scheme',
      report('x', { error: 'yt_dlp.networking.exceptions.NoSupportingHandlers: x' }),
      { kind: 'bad_scheme' },
    ],
    [
      'a refused tunnel',
      report('[generic] Unable (caused by ProxyError("Tunnel connection failed: 403 Refused"))'),
      { kind: 'egress_refused' },
    ],
    ['a proxy that fails', report("[generic] Unable (caused by ProxyError('x'))"), { kind: 'proxy' }],
    [
      'a time-out of a proxy',
      report("[generic] Unable (caused by ProxyError('The read operation timed out'))"),
      { kind: 'timeout' },
    ],
    ['a time-out', report('[generic] Unable', { error: 'TimeoutError: [Errno 110]' }), { kind: 'timeout' }],
    [
      'an invalid host',
      report('[generic] Unable', { error: "UnicodeError: encoding with 'idna' codec failed" }),
      { kind: 'dns' },
    ],
    ['a broken connection', report("[generic] Unable (caused by TransportError('reset'))"), { kind: 'network' }],
    ['too little memory', report('x', { error: 'MemoryError' }), { kind: 'memory' }],
    [
      'a message of an extractor',
      report('[Site] 1: This video is private'),
      { kind: 'expected', expected: true, message: 'This video is private' },
    ],
    [
      'a bug of an extractor',
      report(`[Site] 1: An extractor error has occurred.${BUG}`),
      { kind: 'bug', expected: false, message: 'An extractor error has occurred.' },
    ],
    [
      'another exception',
      report("'NoneType' object is not iterable", { error: 'TypeError: x' }),
      { kind: 'bug', classes: ['TypeError'] },
    ],
    [
      'an invalid option',
      'Usage: yt-dlp [OPTIONS]\n\nyt-dlp: error: no such option: --x\n',
      { kind: 'crash', message: 'yt-dlp: error: no such option: --x' },
    ],
    ['nothing', '', { kind: 'crash', message: '' }],
  ])('reads %s', (_, stderr, failure) => expect(readFailure(stderr)).toMatchObject(failure));

  it('reads the first of several reports', () => {
    const stderr = `${report('[Site] 1: This video is private')}${report('[Site] 2: x', { frames: ['report_drm'] })}`;
    expect(readFailure(stderr)).toMatchObject({ kind: 'expected', message: 'This video is private' });
  });

  it('bounds the message', () => {
    expect(readFailure(`ERROR: ${'x'.repeat(10_000)}`).message).toHaveLength(600);
    expect(readFailure('x'.repeat(10_000)).message).toHaveLength(600);
  });

  it('takes linear time for hostile output', () => {
    for (const part of ['ERROR: ', '\n  File "', 'A.', '[a] ', ' (caused by ', "'", '; please report'])
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
