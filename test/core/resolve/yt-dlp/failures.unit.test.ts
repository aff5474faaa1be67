import { describe, expect, it } from 'vitest';
import { toProblem } from '../../../../core/api/problem.ts';
import type { ProblemName } from '../../../../core/api/problem-types.ts';
import { isPermanent, toError } from '../../../../core/resolve/yt-dlp/failures.ts';
import type { WorkerFailure } from '../../../../packages/yt-dlp-worker/src/worker/worker-protocol.ts';

const failure = (kind: WorkerFailure['kind'], more: Partial<WorkerFailure> = {}): WorkerFailure => ({ kind, ...more });

describe('toError', () => {
  it.each<[WorkerFailure, number, ProblemName]>([
    [failure('drm'), 415, 'drm'],
    [failure('site_drm'), 415, 'drm'],
    [failure('site_piracy'), 415, 'unsupported'],
    [failure('site_liability'), 415, 'unsupported'],
    [failure('login'), 415, 'login'],
    [failure('login', { message: 'Sign in to confirm your age' }), 415, 'age'],
    [failure('login', { message: 'The page is not available. Log in' }), 415, 'login'],
    [failure('login', { message: 'You have exceeded the rate-limit. Log in' }), 502, 'rate-limited'],
    [failure('login', { message: 'You must be 18 years old or over to see this' }), 415, 'age'],
    [failure('geo'), 415, 'region'],
    [failure('unsupported'), 415, 'unsupported'],
    [failure('bad_scheme'), 415, 'unsupported'],
    [failure('no_formats'), 404, 'no-media'],
    [failure('no_formats', { message: 'No video formats found!' }), 404, 'no-media'],
    [failure('unreadable_formats'), 502, 'site-changed'],
    [failure('separate_periods'), 415, 'unsupported'],
    [failure('upcoming'), 404, 'not-started'],
    [failure('not_live'), 404, 'not-started'],
    [failure('dns'), 404, 'unknown-host'],
    [failure('egress_refused'), 404, 'unknown-host'],
    [failure('http', { httpStatus: 404 }), 404, 'not-found'],
    [failure('http', { httpStatus: 410 }), 404, 'gone'],
    [failure('http', { httpStatus: 401 }), 415, 'login'],
    [failure('http', { httpStatus: 403 }), 415, 'refused'],
    [
      failure('http', { httpStatus: 403, message: 'Got HTTP Error 403 caused by an anti-bot challenge' }),
      415,
      'bot-check',
    ],
    [failure('http', { httpStatus: 401, message: 'Unable to download: HTTP Error 401: Unauthorized' }), 415, 'login'],
    [failure('http', { httpStatus: 403, message: 'content_geoblocked: Content is geoblocked' }), 415, 'region'],
    [failure('http', { httpStatus: 412 }), 415, 'refused'],
    [
      failure('http', { httpStatus: 429, message: 'This request has been blocked due to its TLS fingerprint' }),
      415,
      'bot-check',
    ],
    [failure('http', { httpStatus: 451 }), 415, 'region'],
    [failure('http', { httpStatus: 400 }), 502, 'site-error'],
    [failure('http', { httpStatus: 400, message: 'NotFound Post not found: at://a' }), 404, 'not-found'],
    [failure('http', { httpStatus: 403, message: 'Cannot fetch this private video' }), 415, 'private'],
    [failure('http', { httpStatus: 401, message: 'Unauthorized' }), 415, 'login'],
    [failure('http', { httpStatus: 429 }), 502, 'rate-limited'],
    [failure('http', { httpStatus: 429, message: 'No video formats found!' }), 502, 'rate-limited'],
    [
      failure('http', { httpStatus: 403, message: 'Requested format is not available. Use --list-formats' }),
      415,
      'refused',
    ],
    [failure('http', { httpStatus: 500 }), 502, 'site-error'],
    [failure('http', { httpStatus: 302 }), 502, 'site-error'],
    [failure('http'), 502, 'site-error'],
    [failure('proxy'), 502, 'site-error'],
    [failure('timeout'), 502, 'site-timeout'],
    [failure('network'), 502, 'site-error'],
    [failure('too_large'), 415, 'too-large'],
    [failure('memory'), 415, 'too-large'],
    [failure('crash'), 502, 'service-failed'],
    [failure('cancelled'), 502, 'service-failed'],
    [failure('bug'), 502, 'site-changed'],
    [failure('bug', { message: 'Unable to extract video data: element not found' }), 502, 'site-changed'],
    [failure('bug', { message: 'Video not available, status code 10231' }), 404, 'not-found'],
    [failure('bug', { message: 'The premium player has another form' }), 502, 'site-changed'],
    [failure('login', { message: 'The video was not found' }), 415, 'login'],
    [failure('login', { message: 'You do not have permission to view this post' }), 415, 'private'],
    [failure('login', { message: 'This post may not be comfortable for some audiences' }), 415, 'age'],
    [failure('something new' as WorkerFailure['kind']), 502, 'site-error'],
  ])('maps %j to %d, %s', (worker, status, name) => {
    const { details } = toProblem(toError(worker));
    expect(details).toMatchObject({ status, type: `/problems/${name}` });
    // By the contract only 415 of these statuses has a detail.
    expect(details.detail !== undefined).toBe(status === 415);
  });

  // The first ones are what YouTube's extractor raises.
  it.each<[string | undefined, number, ProblemName]>([
    [
      'Sign in to confirm you’re not a bot. Use --cookies for the authentication. See  https://x.example/private',
      415,
      'bot-check',
    ],
    ['The page needs to be reloaded. YouTube is requiring a captcha challenge before playback', 415, 'bot-check'],
    ['All player responses are invalid. Your IP is likely being blocked by Youtube', 415, 'bot-check'],
    ['Sign in to confirm your age. This video may be inappropriate for some users.', 415, 'age'],
    ['Private video. Sign in if you have been granted access to this video', 415, 'private'],
    ['Join this channel to get access to members-only content like this video.', 415, 'members'],
    ['This video requires payment to watch', 415, 'payment'],
    ['This is for rent', 415, 'payment'],
    ["This video isn't available to the current logged in account", 415, 'login'],
    ['The page does not remember the video: it was deleted', 404, 'gone'],
    ["This content isn't available, try again later. The current session has been rate-limited", 502, 'rate-limited'],
    ['The uploader has not made this video available in your country', 415, 'region'],
    ['bbc.co.uk returned error: geolocation', 415, 'region'],
    ['bbc.co.uk returned error: notukerror', 415, 'region'],
    ['Premieres in 2 hours', 404, 'not-started'],
    ['This live event will begin in 5 days.', 404, 'not-started'],
    ['This live stream recording is not available.', 404, 'ended'],
    ['Video unavailable. This video has been removed by the uploader', 404, 'gone'],
    ['Video unavailable. The account associated with this video has been terminated.', 404, 'gone'],
    ['Video unavailable', 404, 'not-found'],
    ['This video is private', 415, 'private'],
    ['You are not authorized to view this protected tweet', 415, 'private'],
    ['NSFW tweet requires authentication', 415, 'age'],
    ['This video is only available for Premium users', 415, 'members'],
    ['This clip has been removed by its author', 404, 'gone'],
    ['The page does not exist', 404, 'not-found'],
    ['The event has ended', 404, 'ended'],
    ['This video is DRM protected', 415, 'drm'],
    ['Requested content is not available, rate-limit reached or login required', 502, 'rate-limited'],
    ['No video formats found! Unable to load the list: 352, please wait and try later', 502, 'rate-limited'],
    ['This is a supporter-only video. Use --cookies or --password', 415, 'members'],
    ['This video may be deleted or geo-restricted', 404, 'not-found'],
    ['The video has not been found or is blocked', 404, 'not-found'],
    ['Siden er under maintenance', 502, 'site-error'],
    ['The video is temporarily unavailable', 502, 'site-error'],
    ['Internal server error', 502, 'site-error'],
    ['Track is restricted', 415, 'refused'],
    ['NRK said: Programmet er ikke lenger tilgjengelig', 415, 'refused'],
    ['See https://x.example/private and http://x.example/private', 415, 'refused'],
    [undefined, 415, 'refused'],
  ])('maps the message %j to %d, %s', (message, status, name) => {
    const { details } = toProblem(toError(failure('expected', { message })));
    expect(details).toMatchObject({ status, type: `/problems/${name}` });
  });

  it('tells what is raised as missing formats apart by its message', () =>
    expect(toError(failure('no_formats', { message: 'Sign in to confirm you’re not a bot' }))).toMatchObject({
      reason: 'bot-check',
    }));

  it.each<[WorkerFailure, string | undefined]>([
    [failure('http', { httpStatus: 429 }), '300'],
    [failure('http', { httpStatus: 429, retryAfterSeconds: 7 }), '7'],
    [failure('http', { httpStatus: 429, retryAfterSeconds: 999_999 }), '86400'],
    [failure('expected', { message: 'Try again later. The session has been rate-limited for up to an hour' }), '3600'],
    [failure('expected', { message: 'Premieres in 2 hours' }), '7200'],
    [failure('expected', { message: 'Premieres in 15 MINUTES' }), '900'],
    [failure('expected', { message: 'Premieres in a day' }), '86400'],
    [failure('expected', { message: 'Premieres in 10 seconds' }), '10'],
    [failure('expected', { message: 'Premieres in 2 weeks' }), undefined],
    [failure('upcoming', { retryAfterSeconds: 90 }), '90'],
    [failure('upcoming', { retryAfterSeconds: 999_999 }), '999999'],
    [failure('upcoming'), undefined],
    [failure('http', { httpStatus: 500, retryAfterSeconds: 7 }), undefined],
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
    const error = toError(failure('geo', { message: 'not in DE', extractor: 'Site' }));
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
    const said = (message: string) => isPermanent(toError(failure('no_formats', { message })));
    expect(['Private video', 'This video has been removed', 'Pay to watch'].map(said)).toEqual([true, true, true]);
    const passing = ['Confirm you’re not a bot', 'Premieres in 2 hours', 'Rate-limited', 'Try again later'];
    expect(passing.map(said)).toEqual([false, false, false, false]);
    expect(isPermanent(toError(failure('unreadable_formats')))).toBe(false);
  });
});
