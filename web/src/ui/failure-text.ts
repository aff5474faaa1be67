import type { DownloadFailureKind } from '../download/index.ts';
import { createFormat, type TextKey, type Texts } from '../lib/index.ts';

/** What happened, and what to do about it, in the reader's words. */
export interface FailureText {
  readonly title: string;
  readonly what: string;
}

export interface FailureLike {
  readonly kind: DownloadFailureKind;
  readonly detail?: string;
  /** Seconds that the instance asks to wait. */
  readonly retryAfterSeconds?: number;
}

type Word = Exclude<DownloadFailureKind, 'refused'> | 'protected' | 'login' | 'region' | 'refused' | 'unhandled';

/** The service tells in `detail`, in English alone, which way it was refused: DRM first, for its site may refuse too. */
const REFUSALS: readonly (readonly [RegExp, Word])[] = [
  [/\bDRM\b/i, 'protected'],
  [/login/i, 'login'],
  [/region/i, 'region'],
  [/not handled/i, 'unhandled'],
];

const wordOf = ({ kind, detail = '' }: FailureLike): Word =>
  kind === 'refused' ? (REFUSALS.find(([said]) => said.test(detail))?.[1] ?? 'refused') : kind;

/** What an instance asks to come back from later. */
const RETRY_LATER_KINDS: readonly DownloadFailureKind[] = ['too-many', 'busy', 'waking'];
/** A shorter pause than these seconds was waited out before, and did not help: its length says nothing. */
const MIN_ANNOUNCED_SECONDS = 60;

export function failureText({ t, locale }: Texts, failure: FailureLike): FailureText {
  const word = wordOf(failure);
  const title = t(`failure.${word}` satisfies TextKey);
  const { kind, retryAfterSeconds = 0 } = failure;
  if (!RETRY_LATER_KINDS.includes(kind) || retryAfterSeconds < MIN_ANNOUNCED_SECONDS)
    return { title, what: t(`failure.${word}.what` satisfies TextKey) };
  const duration = createFormat(locale).duration(retryAfterSeconds);
  return { title, what: t('failure.later.what', { duration }) };
}

/** The same for a stream: what is not there any more is the version, not the page it came from. */
export const streamFailureText = (texts: Texts, failure: FailureLike): FailureText =>
  failure.kind === 'not-found'
    ? { title: texts.t('failure.gone'), what: texts.t('failure.gone.what') }
    : failureText(texts, failure);

/** Whether asking once more may end otherwise. */
export const isWorthRetrying = ({ kind }: FailureLike): boolean => kind !== 'bad-link' && kind !== 'refused';
