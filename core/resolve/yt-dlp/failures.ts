import { isIP } from 'node:net';
import { isPublicAddress } from '@reelay/guarded-fetch';
import type { WorkerFailure, WorkerFailureKind } from '@reelay/yt-dlp-worker';
import {
  ABSENCE_REASONS,
  type AbsenceReason,
  EgressRefused,
  isPassing,
  NotDeliverable,
  NotFound,
  type RefusalReason,
  UpstreamError,
  type UpstreamReason,
} from '../../errors/index.ts';

/** The sentence for the client. */
const DETAILS: Readonly<Record<RefusalReason, string>> = {
  refused: 'The source refused to provide this media.',
  login: 'The source refused: it asks for a login.',
  age: 'The source refused: it asks for proof of age.',
  private: 'The source refused: the media is private.',
  members: 'The source refused: the media is for members only.',
  payment: 'The source refused: the media has to be paid for.',
  drm: 'The media is DRM protected.',
  region: 'The source refused: it does not serve this region.',
  'bot-check': 'The source refused: it takes this server for a bot.',
  unsupported: 'This kind of link is not handled.',
  'too-large': 'This kind of link is not handled: what its source answers is too large.',
};
const UNHANDLED_SITE = 'Links of this site are not handled.';
const UNHANDLED_DETAILS: Readonly<Partial<Record<WorkerFailureKind, string>>> = {
  site_drm: 'The media of this site is DRM protected.',
  site_piracy: UNHANDLED_SITE,
  site_liability: UNHANDLED_SITE,
  unsupported: 'This kind of link is not supported: the page has no media.',
  separate_periods: 'The periods of this DASH manifest do not make one file: their tracks or codecs differ.',
};

/** What kinds mean that the message tells apart, when it does not. */
const AMBIGUOUS = {
  no_formats: 'no-media',
  // What an extractor expects is the site's statement about the link.
  expected: 'refused',
  // An extractor that raises what it does not expect met a page that it does not know.
  bug: 'site-changed',
} as const;

type ClearKind = Exclude<WorkerFailureKind, 'http' | 'login' | keyof typeof AMBIGUOUS>;

/** The reason of every other kind. */
const REASONS: Readonly<Record<ClearKind, Reason>> = {
  drm: 'drm',
  site_drm: 'drm',
  site_piracy: 'unsupported',
  site_liability: 'unsupported',
  geo: 'region',
  unsupported: 'unsupported',
  bad_scheme: 'unsupported',
  unreadable_formats: 'site-changed',
  separate_periods: 'unsupported',
  upcoming: 'not-started',
  not_live: 'not-started',
  dns: 'unknown-host',
  egress_refused: 'unknown-host',
  proxy: 'site-error',
  timeout: 'site-timeout',
  network: 'site-error',
  too_large: 'too-large',
  memory: 'too-large',
  crash: 'service-failed',
  cancelled: 'service-failed',
};

const REASONS_BY_STATUS: Readonly<Record<number, Reason>> = {
  401: 'login',
  403: 'refused',
  404: 'not-found',
  410: 'gone',
  // Extractors send no conditions: Bilibili refuses clients so.
  412: 'refused',
  429: 'rate-limited',
  451: 'region',
};

/** What a request for a login may mean, by its message. */
const REASONS_FOR_LOGIN: readonly (Reason | undefined)[] = [
  ...(['age', 'private', 'members', 'payment', 'bot-check', 'rate-limited'] as const),
];

/** What an extractor may say of media when it raises an unexpected error ("Video not available, status code 7"). */
const REASONS_FOR_BUG: readonly (Reason | undefined)[] = ['not-found', 'gone', 'private', 'region'];
/** Unexpected errors that are about the page rather than the media. */
const ABOUT_PAGE = /^(?:unable|failed|could not|an extractor error)\b/i;

const RATE_LIMIT_SECONDS = 300;
const MAX_RETRY_AFTER_SECONDS = 86_400;
/** Premieres are announced long before. */
const MAX_START_SECONDS = 30 * 86_400;

/**
 * The error of a failed extraction: decided by its kind, then by the upstream's status, last by its message.
 * @param link the link that was extracted
 */
export function toError(failure: WorkerFailure, link?: string): Error {
  const reason = reasonOf(failure, link);
  const cause = causeOf(failure);
  if (isRefusal(reason)) {
    const detail = UNHANDLED_DETAILS[failure.kind] ?? DETAILS[reason];
    return new NotDeliverable(detail, { cause, reason });
  }
  const retryAfterSeconds = retryAfterOf(failure, reason);
  return isAbsence(reason)
    ? new NotFound(undefined, { cause, reason, retryAfterSeconds })
    : new UpstreamError(`Extraction failed: ${failure.kind}`, { cause, reason, retryAfterSeconds });
}

function reasonOf({ kind, httpStatus = 0, message = '' }: WorkerFailure, link?: string): Reason {
  const said = reasonOfMessage(message);
  switch (kind) {
    case 'http':
      return (
        (isOwnWords(message) || said === 'bot-check' ? said : undefined) ??
        REASONS_BY_STATUS[httpStatus] ??
        'site-error'
      );
    case 'login':
      return said && REASONS_FOR_LOGIN.includes(said) ? said : 'login';
    case 'no_formats':
    case 'expected':
      return said ?? AMBIGUOUS[kind];
    case 'bug':
      return said && REASONS_FOR_BUG.includes(said) && !ABOUT_PAGE.test(message) ? said : AMBIGUOUS[kind];
    case 'egress_refused':
      return isPrivateLiteral(link) ? 'private-address' : REASONS[kind];
    default:
      return REASONS[kind] ?? 'site-error';
  }
}

/** yt-dlp's own messages, where all that an extractor requested was refused. */
const NO_FORMATS = /^(No video formats found|Requested format is not available)/;

/** Whether the extractor has read the response of a failed request, rather than its status alone. */
const isOwnWords = (message: string): boolean => !message.includes('HTTP Error') && !NO_FORMATS.test(message);

/** Whether the link itself names a private address. Of a name, this would reveal which internal ones exist. */
function isPrivateLiteral(link = ''): boolean {
  const host = URL.parse(link)?.hostname.replace(/[[\]]/g, '') ?? '';
  return isIP(host) !== 0 && !isPublicAddress(host);
}

function retryAfterOf({ retryAfterSeconds, message }: WorkerFailure, reason: Reason): number | undefined {
  if (reason !== 'rate-limited' && reason !== 'not-started') return undefined;
  const seconds =
    retryAfterSeconds ?? secondsOfMessage(message) ?? (reason === 'rate-limited' ? RATE_LIMIT_SECONDS : 0);
  const maxSeconds = reason === 'not-started' ? MAX_START_SECONDS : MAX_RETRY_AFTER_SECONDS;
  return seconds > 0 ? Math.min(Math.ceil(seconds), maxSeconds) : undefined;
}

const isAbsence = (reason: Reason): reason is AbsenceReason => (ABSENCE_REASONS as readonly Reason[]).includes(reason);
const isRefusal = (reason: Reason): reason is RefusalReason => reason in DETAILS;

/** For the log. */
const causeOf = ({ kind, httpStatus, extractor, message, classes }: WorkerFailure): Error =>
  Object.assign(new Error(message ?? kind), { name: 'ExtractionFailure', kind, httpStatus, extractor, classes });

/** Why an entry of a playlist is gone, private or protected for good; undefined where it is temporarily out of reach. */
export const permanentReason = (error: unknown): string | undefined =>
  (error instanceof NotFound || error instanceof NotDeliverable || error instanceof EgressRefused) &&
  !isPassing(error.reason)
    ? error.reason
    : undefined;

export const isPermanent = (error: unknown): boolean => permanentReason(error) !== undefined;

export type Reason = AbsenceReason | RefusalReason | UpstreamReason;

/**
 * What messages of extractors say. The first that matches decides: many messages also say that the media is unavailable, or
 * that one should sign in.
 */
const MESSAGES: readonly (readonly [RegExp, Reason])[] = [
  [/\bdrm\b/i, 'drm'],
  [/rate[- ]?limit|try (?:again )?later|too many requests/i, 'rate-limited'],
  [
    /(?:not|n['’]t) a (?:ro)?bot|anti-?bot|captcha|tls fingerprint|\bips? (?:address )?(?:is|has been) .*block|unusual traffic/i,
    'bot-check',
  ],
  [/\bage\b|inappropriate|\bnsfw\b|\b(?:adults|mature)\b|for some audiences|years old/i, 'age'],
  [/\bmembers?\b|premium|subscri|patrons?\b|supporters?\b|join this channel/i, 'members'],
  [/purchase|\brent(?:al|ed)?\b|\bbuy\b|\bpa(?:id|y|yment)\b/i, 'payment'],
  [/private|protected|\bauthori[sz]ed|have permission/i, 'private'],
  // Sites that do not say which of the two it is respond as to what does not exist.
  [/(?:deleted|removed) or geo/i, 'not-found'],
  [
    /\bgeo(?:location)?\b|\bnotukerror\b|geo-?(?:block|restrict)|(?:your|this) (?:country|region|location)|countr(?:y|ies)/i,
    'region',
  ],
  [/log(?:ged)?[ -]?in\b|sign(?:ed)?[ -]?in\b|password|registered users|authentication|unauthori[sz]ed/i, 'login'],
  [
    /will begin|premieres?\b|(?:not|n['’]t) (?:yet )?(?:started|begun|aired)|is not (?:currently )?live|offline/i,
    'not-started',
  ],
  [/\bmaintenance\b|temporar|(?:internal|server) error/i, 'site-error'],
  [/has ended|recording is (?:not|un)/i, 'ended'],
  [/no longer|deleted|removed|expired|terminated|suspended|taken down/i, 'gone'],
  [/no (?:video|media|audio|formats)/i, 'no-media'],
  [/not (?:been )?found|unavailable|(?:not|n['’]t) available|(?:does|did)(?:n['’]t| not) exist|\b404\b/i, 'not-found'],
  [/confirm you|forbidden|not allowed/i, 'refused'],
];

/** The reason that the message of an extractor names, if any. Links in it are advice of yt-dlp. */
function reasonOfMessage(message: string): Reason | undefined {
  const text = message.replace(/\b[a-z]+:\/\/\S+/gi, '');
  return MESSAGES.find(([said]) => said.test(text))?.[1];
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400 };

/** The time of "will begin in 5 hours" or "up to an hour", in seconds. */
function secondsOfMessage(message = ''): number | undefined {
  const [, count, unit] = /\b(?:in|to) (\d{1,3}|an?) (second|minute|hour|day)/i.exec(message) ?? [];
  const seconds = UNIT_SECONDS[String(unit).toLowerCase()];
  return seconds && seconds * (Number.parseInt(String(count), 10) || 1);
}
