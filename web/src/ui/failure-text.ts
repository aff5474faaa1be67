import type { DownloadFailureKind } from '../download/index.ts';
import { createFormat, type TextKey, type Texts } from '../lib/index.ts';

/** A failure in the page's language: what happened and what to do. */
export interface FailureText {
  readonly title: string;
  readonly what: string;
  /** The service's English explanation, where the text above does not say the same. */
  readonly detail?: string;
}

export interface FailureLike {
  readonly kind: DownloadFailureKind;
  readonly detail?: string;
  /** Retry-After. */
  readonly retryAfterSeconds?: number;
  /** A download that continues where it stopped. */
  readonly canResume?: boolean;
}

type Word = Exclude<DownloadFailureKind, 'refused'> | 'protected' | 'login' | 'region' | 'refused' | 'unhandled';

/** `detail` is always English. DRM first: a protected item's detail may mention other reasons. */
const REFUSALS: readonly (readonly [RegExp, Word])[] = [
  [/\bDRM\b/i, 'protected'],
  [/login/i, 'login'],
  [/region/i, 'region'],
  [/not handled/i, 'unhandled'],
];

const wordOf = ({ kind, detail = '' }: FailureLike): Word =>
  kind === 'refused' ? (REFUSALS.find(([said]) => said.test(detail))?.[1] ?? 'refused') : kind;

/** Failures that come with a Retry-After. */
const RETRY_LATER_KINDS: readonly DownloadFailureKind[] = ['too-many', 'busy', 'waking'];
/** A shorter delay has been waited out already and did not help. */
const MIN_ANNOUNCED_SECONDS = 60;

export function failureText({ t, locale }: Texts, failure: FailureLike): FailureText {
  const word = wordOf(failure);
  const title = t(`failure.${word}` satisfies TextKey);
  const { kind, retryAfterSeconds = 0 } = failure;
  if (kind === 'interrupted' && failure.canResume) return { title, what: t('failure.interrupted.resume') };
  if (!RETRY_LATER_KINDS.includes(kind) || retryAfterSeconds < MIN_ANNOUNCED_SECONDS)
    return {
      title,
      what: t(`failure.${word}.what` satisfies TextKey),
      detail: word === 'refused' || word === 'failed' ? failure.detail : undefined,
    };
  const duration = createFormat(locale).duration(retryAfterSeconds);
  return { title, what: t('failure.later.what', { duration }) };
}

/** The same for a stream, where not-found means an expired key. */
export const streamFailureText = (texts: Texts, failure: FailureLike): FailureText =>
  failure.kind === 'not-found'
    ? { title: texts.t('failure.gone'), what: texts.t('failure.gone.what') }
    : failureText(texts, failure);

/** Whether a retry may succeed. */
export const isWorthRetrying = ({ kind }: FailureLike): boolean => kind !== 'bad-link' && kind !== 'refused';
