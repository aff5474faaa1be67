import type { WorkerFailure, WorkerFailureKind } from '../../../layers/tools/index.ts';
import { EgressRefused, NotDeliverable, NotFound, UpstreamError } from '../../errors/index.ts';

type ToError = (failure: WorkerFailure) => Error;

const notFound: ToError = (failure) => new NotFound(undefined, { cause: causeOf(failure) });
const failed: ToError = (failure) =>
  new UpstreamError(`Extraction failed: ${failure.kind}`, { cause: causeOf(failure) });
const notDeliverable =
  (detail: string): ToError =>
  (failure) =>
    new NotDeliverable(detail, { cause: causeOf(failure) });

const TOO_LARGE = 'This kind of link is not handled: what its source answers is too large.';
const REFUSED = 'The source refused to hand out this media.';

/** The error of each failure kind. */
const ERRORS: Readonly<Record<WorkerFailureKind, ToError>> = {
  drm: notDeliverable('The media is DRM protected.'),
  site_drm: notDeliverable('The media of this site is DRM protected.'),
  site_piracy: notDeliverable('Links of this site are not handled.'),
  site_liability: notDeliverable('Links of this site are not handled.'),
  login: notDeliverable('The source refused: it asks for a login.'),
  geo: notDeliverable('The source refused: it does not serve this region.'),
  unsupported: notDeliverable('This kind of link is not handled: there is no media on the page.'),
  bad_scheme: notDeliverable('This kind of link is not handled.'),
  no_formats: notFound,
  upcoming: notFound,
  not_live: notFound,
  dns: notFound,
  // Like a name that does not exist: the response must not reveal which internal addresses do.
  egress_refused: notFound,
  http: (failure) => (HTTP_ERRORS[failure.httpStatus ?? 0] ?? failed)(failure),
  expected: (failure) => (MESSAGES.find(([text]) => text.test(failure.message ?? ''))?.[1] ?? failed)(failure),
  proxy: failed,
  timeout: failed,
  network: failed,
  too_large: notDeliverable(TOO_LARGE),
  memory: notDeliverable(TOO_LARGE),
  crash: failed,
  cancelled: failed,
  bug: failed,
};

const HTTP_ERRORS: Readonly<Record<number, ToError>> = {
  401: notDeliverable(REFUSED),
  403: notDeliverable(REFUSED),
  404: notFound,
  410: notFound,
  451: notDeliverable(REFUSED),
};

/** Messages of extractors that raise no more specific class. "Private" comes before "unavailable": many say both. */
const MESSAGES: readonly (readonly [RegExp, ToError])[] = [
  [/\bdrm\b/i, notDeliverable('The media is DRM protected.')],
  [
    /private|log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in|password|premium|subscri|members?[ -]only|purchase|rental|paid|\bage\b|captcha|confirm you|not a bot|forbidden|not allowed|geo|your (?:country|region|location)/i,
    notDeliverable(REFUSED),
  ],
  [
    /not found|no longer|unavailable|not available|deleted|removed|(?:does|did)(?:n['’]t| not) exist|expired|has ended|is not live|offline|no (?:video|media|audio|formats)|terminated|taken down|(?:not|n['’]t) (?:yet )?(?:started|begun)|\b404\b/i,
    notFound,
  ],
];

/** The error of a failed extraction: decided by its kind, then by the upstream's status, last by its message. */
export const toError = (failure: WorkerFailure): Error => (ERRORS[failure.kind] ?? failed)(failure);

/** For the log. */
const causeOf = ({ kind, httpStatus, extractor, message, classes }: WorkerFailure): Error =>
  Object.assign(new Error(message ?? kind), { name: 'ExtractionFailure', kind, httpStatus, extractor, classes });

/** Whether an entry of a playlist is gone, private or protected for good, rather than temporarily out of reach. */
export const isFinal = (error: unknown): boolean =>
  error instanceof NotFound || error instanceof NotDeliverable || error instanceof EgressRefused;
