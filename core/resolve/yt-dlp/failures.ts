import type { WorkerFailure, WorkerFailureKind } from '../../../layers/tools/worker/index.ts';
import { Problem, problems } from '../../api/index.ts';

type Answer = (failure: WorkerFailure) => Problem;

const nothingThere: Answer = (failure) => problems.notFound(causeOf(failure));
const failed: Answer = (failure) => problems.fetchFailed(causeOf(failure));
const notDeliverable =
  (detail: string): Answer =>
  (failure) =>
    problems.notDeliverable(detail, causeOf(failure));

const REFUSED = 'The source refused to hand out this media.';

/** The one place that says what each kind of failure answers. */
const ANSWERS: Readonly<Record<WorkerFailureKind, Answer>> = {
  drm: notDeliverable('The media is DRM protected.'),
  site_drm: notDeliverable('The media of this site is DRM protected.'),
  site_piracy: notDeliverable('Links of this site are not handled.'),
  site_liability: notDeliverable('Links of this site are not handled.'),
  login: notDeliverable('The source refused: it asks for a login.'),
  geo: notDeliverable('The source refused: it does not serve this region.'),
  unsupported: notDeliverable('This kind of link is not handled: there is no media on the page.'),
  bad_scheme: notDeliverable('This kind of link is not handled.'),
  no_formats: nothingThere,
  upcoming: nothingThere,
  not_live: nothingThere,
  dns: nothingThere,
  // Answered like a name that does not exist: an outsider learns nothing of what is inside.
  egress_refused: nothingThere,
  http: (failure) => HTTP_ANSWERS[failure.httpStatus ?? 0]?.(failure) ?? failed(failure),
  expected: (failure) => (EXPECTED.find(([text]) => text.test(failure.message ?? ''))?.[1] ?? failed)(failure),
  proxy: failed,
  timeout: failed,
  network: failed,
  too_large: failed,
  memory: failed,
  crash: failed,
  cancelled: failed,
  bug: failed,
};

const HTTP_ANSWERS: Readonly<Record<number, Answer>> = {
  401: notDeliverable(REFUSED),
  403: notDeliverable(REFUSED),
  404: nothingThere,
  410: nothingThere,
  451: notDeliverable(REFUSED),
};

/** What a site says in words alone, as the last step: first those who are kept out, then those for whom it is gone. */
const EXPECTED: readonly (readonly [RegExp, Answer])[] = [
  [/\bdrm\b/i, notDeliverable('The media is DRM protected.')],
  [
    /private|log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in|password|premium|subscri|members?[ -]only|purchase|rental|paid|\bage\b|captcha|confirm you|not a bot|forbidden|not allowed|geo|your (?:country|region|location)/i,
    notDeliverable(REFUSED),
  ],
  [
    /not found|no longer|unavailable|not available|deleted|removed|(?:does|did)(?:n['’]t| not) exist|expired|has ended|is not live|offline|no (?:video|media|audio|formats)|terminated|taken down|(?:not|n['’]t) (?:yet )?(?:started|begun)|\b404\b/i,
    nothingThere,
  ],
];

/** What a failed resolve answers. Kind comes first, then the status of the upstream, words last. */
export const toFailure = (failure: WorkerFailure): Problem => (ANSWERS[failure.kind] ?? failed)(failure);

/** For the log. */
const causeOf = ({ kind, httpStatus, extractor, message, classes }: WorkerFailure): Error =>
  Object.assign(new Error(message ?? kind), { name: 'ResolveFailure', kind, httpStatus, extractor, classes });

/** Whether an entry of a playlist is gone, private or protected for good, rather than out of reach for now. */
export const isFinal = (error: unknown): boolean => error instanceof Problem && FINAL.has(error.details.status);
const FINAL = new Set([400, 404, 415]);
