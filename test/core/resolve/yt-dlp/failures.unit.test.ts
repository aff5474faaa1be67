import { describe, expect, it } from 'vitest';
import { toProblem } from '../../../../core/api/problem.ts';
import type { ProblemName } from '../../../../core/api/problem-types.ts';
import { isPermanent, toError } from '../../../../core/resolve/yt-dlp/failures.ts';
import type { WorkerFailure } from '../../../../packages/yt-dlp-worker/src/worker/worker-protocol.ts';

const failure = (kind: WorkerFailure['kind'], message?: string, more: Partial<WorkerFailure> = {}): WorkerFailure => ({
  kind,
  message,
  ...more,
});
const http = (httpStatus: number, message?: string) => failure('http', message, { httpStatus });

describe('toError', () => {
  it.each<[ProblemName, number, WorkerFailure[]]>([
    ['drm', 415, [failure('drm'), failure('site_drm')]],
    [
      'unsupported',
      415,
      (['site_piracy', 'site_liability', 'unsupported', 'bad_scheme', 'separate_periods'] as const).map((kind) =>
        failure(kind),
      ),
    ],
    [
      'login',
      415,
      [
        failure('login'),
        failure('login', 'The page is not available. Log in'),
        failure('login', 'The video was not found'),
        http(401),
        http(401, 'Unable to download: HTTP Error 401: Unauthorized'),
        http(401, 'Unauthorized'),
      ],
    ],
    [
      'age',
      415,
      [
        failure('login', 'Sign in to confirm your age'),
        failure('login', 'You must be 18 years old or over to see this'),
        failure('login', 'This post may not be comfortable for some audiences'),
      ],
    ],
    [
      'private',
      415,
      [failure('login', 'You do not have permission to view this post'), http(403, 'Cannot fetch this private video')],
    ],
    ['region', 415, [failure('geo'), http(451), http(403, 'content_geoblocked: Content is geoblocked')]],
    ['refused', 415, [http(403), http(412), http(403, 'Requested format is not available. Use --list-formats')]],
    [
      'bot-check',
      415,
      [
        http(403, 'Got HTTP Error 403 caused by an anti-bot challenge'),
        http(429, 'This request has been blocked due to its TLS fingerprint'),
      ],
    ],
    ['too-large', 415, [failure('too_large'), failure('memory')]],
    ['no-media', 404, [failure('no_formats'), failure('no_formats', 'No video formats found!')]],
    ['not-started', 404, [failure('upcoming'), failure('not_live')]],
    ['unknown-host', 404, [failure('dns'), failure('egress_refused')]],
    [
      'not-found',
      404,
      [
        http(404),
        http(400, 'NotFound Post not found: at://a'),
        failure('bug', 'Video not available, status code 10231'),
      ],
    ],
    ['gone', 404, [http(410)]],
    [
      'rate-limited',
      502,
      [failure('login', 'You have exceeded the rate-limit. Log in'), http(429), http(429, 'No video formats found!')],
    ],
    [
      'site-changed',
      502,
      [
        failure('unreadable_formats'),
        failure('bug'),
        failure('bug', 'Unable to extract video data: element not found'),
        failure('bug', 'The premium player has another form'),
      ],
    ],
    [
      'site-error',
      502,
      [
        http(400),
        http(500),
        http(302),
        failure('http'),
        failure('proxy'),
        failure('network'),
        failure('something new' as WorkerFailure['kind']),
      ],
    ],
    ['site-timeout', 502, [failure('timeout')]],
    ['service-failed', 502, [failure('crash'), failure('cancelled')]],
  ])('is %s with %d for %j', (name, status, failures) => {
    for (const worker of failures) {
      const { details } = toProblem(toError(worker));
      expect([worker, details]).toMatchObject([worker, { status, type: `/problems/${name}` }]);
      // By the contract only 415 of these statuses has a detail.
      expect(details.detail !== undefined).toBe(status === 415);
    }
  });

  // The first ones are what YouTube's extractor raises.
  it.each<[ProblemName, number, (string | undefined)[]]>([
    [
      'bot-check',
      415,
      [
        'Sign in to confirm you’re not a bot. Use --cookies for the authentication. See  https://x.example/private',
        'The page needs to be reloaded. YouTube is requiring a captcha challenge before playback',
        'All player responses are invalid. Your IP is likely being blocked by Youtube',
      ],
    ],
    [
      'age',
      415,
      [
        'Sign in to confirm your age. This video may be inappropriate for some users.',
        'NSFW tweet requires authentication',
      ],
    ],
    [
      'private',
      415,
      [
        'Private video. Sign in if you have been granted access to this video',
        'This video is private',
        'You are not authorized to view this protected tweet',
      ],
    ],
    [
      'members',
      415,
      [
        'Join this channel to get access to members-only content like this video.',
        'This video is only available for Premium users',
        'This is a supporter-only video. Use --cookies or --password',
      ],
    ],
    ['payment', 415, ['This video requires payment to watch', 'This is for rent']],
    ['login', 415, ["This video isn't available to the current logged in account"]],
    [
      'gone',
      404,
      [
        'The page does not remember the video: it was deleted',
        'Video unavailable. This video has been removed by the uploader',
        'Video unavailable. The account associated with this video has been terminated.',
        'This clip has been removed by its author',
      ],
    ],
    [
      'rate-limited',
      502,
      [
        "This content isn't available, try again later. The current session has been rate-limited",
        'Requested content is not available, rate-limit reached or login required',
        'No video formats found! Unable to load the list: 352, please wait and try later',
      ],
    ],
    [
      'region',
      415,
      [
        'The uploader has not made this video available in your country',
        'bbc.co.uk returned error: geolocation',
        'bbc.co.uk returned error: notukerror',
      ],
    ],
    ['not-started', 404, ['Premieres in 2 hours', 'This live event will begin in 5 days.']],
    ['ended', 404, ['This live stream recording is not available.', 'The event has ended']],
    [
      'not-found',
      404,
      [
        'Video unavailable',
        'The page does not exist',
        'This video may be deleted or geo-restricted',
        'The video has not been found or is blocked',
      ],
    ],
    ['drm', 415, ['This video is DRM protected']],
    [
      'site-error',
      502,
      ['Siden er under maintenance', 'The video is temporarily unavailable', 'Internal server error'],
    ],
    [
      'refused',
      415,
      [
        'Track is restricted',
        'NRK said: Programmet er ikke lenger tilgjengelig',
        'See https://x.example/private and http://x.example/private',
        undefined,
      ],
    ],
  ])('is %s with %d for the messages %j', (name, status, messages) => {
    for (const message of messages) {
      const { details } = toProblem(toError(failure('expected', message)));
      expect([message, details]).toMatchObject([message, { status, type: `/problems/${name}` }]);
    }
  });

  it('tells what is raised as missing formats apart by its message', () =>
    expect(toError(failure('no_formats', 'Sign in to confirm you’re not a bot'))).toMatchObject({
      reason: 'bot-check',
    }));

  it.each<[WorkerFailure, string | undefined]>([
    [http(429), '300'],
    [failure('http', undefined, { httpStatus: 429, retryAfterSeconds: 7 }), '7'],
    [failure('http', undefined, { httpStatus: 429, retryAfterSeconds: 999_999 }), '86400'],
    [failure('expected', 'Try again later. The session has been rate-limited for up to an hour'), '3600'],
    [failure('expected', 'Premieres in 2 hours'), '7200'],
    [failure('expected', 'Premieres in 15 MINUTES'), '900'],
    [failure('expected', 'Premieres in a day'), '86400'],
    [failure('expected', 'Premieres in 10 seconds'), '10'],
    [failure('expected', 'Premieres in 2 weeks'), undefined],
    [failure('upcoming', undefined, { retryAfterSeconds: 90 }), '90'],
    [failure('upcoming', undefined, { retryAfterSeconds: 999_999 }), '999999'],
    [failure('upcoming'), undefined],
    [failure('http', undefined, { httpStatus: 500, retryAfterSeconds: 7 }), undefined],
  ])('answers %j with Retry-After %s', (worker, seconds) =>
    expect(toProblem(toError(worker)).headers['retry-after']).toBe(seconds),
  );

  it.each([
    ['http://10.0.0.1/x', 'private-address'],
    ['http://0x7f.1/x', 'private-address'],
    ['http://[fd00::1]/x', 'private-address'],
    ['http://93.184.215.14/redirects-inwards', 'unknown-host'],
    ['http://internal.example/x', 'unknown-host'],
  ])('names the private address of a refused %s only when it is a literal: %s', (link, reason) =>
    expect(toError(failure('egress_refused'), link)).toMatchObject({ reason }),
  );

  it('keeps details for the log that no client sees', () => {
    const error = toError(failure('geo', 'not in DE', { extractor: 'Site' }));
    expect(error.cause).toMatchObject({
      name: 'ExtractionFailure',
      message: 'not in DE',
      kind: 'geo',
      extractor: 'Site',
    });
    expect(JSON.stringify(toProblem(error).details)).not.toContain('DE"');
    expect(toError(failure('network'))).toMatchObject({
      message: 'Extraction failed: network',
      cause: { message: 'network' },
    });
  });

  it('leaves out entries of lists that are gone or refused for good, and keeps those that may succeed later', () => {
    const said = (message: string) => isPermanent(toError(failure('no_formats', message)));
    expect(['Private video', 'This video has been removed', 'Pay to watch'].map(said)).toEqual([true, true, true]);
    const passing = ['Confirm you’re not a bot', 'Premieres in 2 hours', 'Rate-limited', 'Try again later'];
    expect(passing.map(said)).toEqual([false, false, false, false]);
    expect(isPermanent(toError(failure('unreadable_formats')))).toBe(false);
  });
});
