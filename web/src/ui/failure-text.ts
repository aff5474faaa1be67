import type { FailureKind } from '../api/index.ts';
import { createFormat, type TextKey, type Texts } from '../lib/index.ts';

/** A failure in the page's language: what happened and what to do. */
export interface FailureText {
  readonly title: string;
  readonly what: string;
}

export interface FailureLike {
  readonly kind: FailureKind;
  /** Name of the type of the problem. */
  readonly problem?: string;
  /** Retry-After. */
  readonly retryAfterSeconds?: number;
}

/** The words of each problem that its kind does not tell apart, by the name of its type. */
const WORDS = {
  'unknown-host': 'unknown-host',
  'private-address': 'private-address',
  'no-media': 'no-media',
  'not-started': 'not-started',
  ended: 'ended',
  gone: 'removed',
  login: 'login',
  age: 'age',
  private: 'private',
  members: 'members',
  payment: 'payment',
  drm: 'protected',
  region: 'region',
  'bot-check': 'bot-check',
  unsupported: 'unhandled',
  'unsupported-rendition': 'format',
  'too-large': 'too-large',
  'rate-limited': 'rate-limited',
  'site-timeout': 'site-timeout',
  'site-changed': 'site-changed',
  unauthorized: 'unauthorized',
  'service-failed': 'service-failed',
  internal: 'service-failed',
} as const;

type Word = FailureKind | (typeof WORDS)[keyof typeof WORDS];

const isNamed = (name: string): name is keyof typeof WORDS => Object.hasOwn(WORDS, name);

/** Kinds of several types of problems. */
const AMBIGUOUS_KINDS: readonly FailureKind[] = ['not-found', 'refused', 'failed'];

const wordOf = ({ kind, problem = '' }: FailureLike): Word =>
  AMBIGUOUS_KINDS.includes(kind) && isNamed(problem) ? WORDS[problem] : kind;

/** Failures that come with a Retry-After. */
const RETRY_LATER_KINDS: readonly FailureKind[] = ['too-many', 'busy', 'waking', 'delayed'];
/** A shorter delay has been waited out already and did not help. */
const MIN_ANNOUNCED_SECONDS = 60;

export function failureText({ t, locale }: Texts, failure: FailureLike): FailureText {
  const word = wordOf(failure);
  const title = t(`failure.${word}` satisfies TextKey);
  const { kind, retryAfterSeconds = 0 } = failure;
  const isLater = RETRY_LATER_KINDS.includes(kind) || word === 'rate-limited';
  if (!isLater || retryAfterSeconds < MIN_ANNOUNCED_SECONDS)
    return { title, what: t(`failure.${word}.what` satisfies TextKey) };
  const duration = createFormat(locale).duration(retryAfterSeconds);
  return { title, what: t('failure.later.what', { duration }) };
}

/** The same for a stream, where not-found means an expired key. */
export const streamFailureText = (texts: Texts, failure: FailureLike): FailureText =>
  failure.kind === 'not-found'
    ? { title: texts.t('failure.gone'), what: texts.t('failure.gone.what') }
    : failureText(texts, failure);

/** Whether a retry may succeed. */
export const isWorthRetrying = ({ kind, problem }: FailureLike): boolean =>
  problem === 'bot-check' || (kind !== 'bad-link' && kind !== 'refused');
