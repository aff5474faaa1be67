import type { DownloadFailureKind } from '../lib/download.ts';
import type { TextKey, Texts } from '../lib/texts.ts';

/** What happened, and what to do about it, in the reader's words. */
export interface FailureText {
  readonly title: string;
  readonly what: string;
}

export interface FailureLike {
  readonly kind: DownloadFailureKind;
  readonly detail?: string;
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

export function failureText({ t }: Texts, failure: FailureLike): FailureText {
  const word = wordOf(failure);
  return { title: t(`failure.${word}` satisfies TextKey), what: t(`failure.${word}.what` satisfies TextKey) };
}

/** The same for a stream: what is not there any more is the version, not the page it came from. */
export const streamFailureText = (texts: Texts, failure: FailureLike): FailureText =>
  failure.kind === 'not-found'
    ? { title: texts.t('failure.gone'), what: texts.t('failure.gone.what') }
    : failureText(texts, failure);

/** Whether asking once more may end otherwise. */
export const mayPass = ({ kind }: FailureLike): boolean => kind !== 'bad-link' && kind !== 'refused';
