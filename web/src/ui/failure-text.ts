import type { FailureKind, ToolProgress } from '../api/index.ts';
import { createFormat } from '../format.ts';
import type { TextKey, Texts } from '../texts.ts';

/** A failure in the page's language: what happened and what to do. */
export interface FailureText {
  readonly title: string;
  readonly what: string;
}

interface FailureLike {
  readonly kind: FailureKind;
  /** Name of the type of the problem. */
  readonly problem?: string;
  /** Retry-After. */
  readonly retryAfterSeconds?: number;
}

/** Problem types that are explained by the text of another one. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['bad-parameter', 'unsupported-rendition'],
  ['range-not-satisfiable', 'unsupported-rendition'],
  ['headers-too-large', 'bad-link'],
  ['link-refused', 'expired'],
  ['cross-site', 'unreachable'],
  ['unknown-instance', 'unreachable'],
  ['internal', 'service-failed'],
]);

/** Kinds that include several problem types, each with a text of its own. */
const AMBIGUOUS_KINDS: readonly FailureKind[] = ['not-found', 'refused', 'failed'];

function keyOf({ t }: Texts, { kind, problem = '' }: FailureLike): `failure.${FailureKind}` {
  const key = `failure.${ALIASES.get(problem) ?? problem}` as `failure.${FailureKind}`;
  // `t` returns the key itself where it has no text.
  return AMBIGUOUS_KINDS.includes(kind) && t(key) !== key ? key : `failure.${kind}`;
}

/** Failures that come with a Retry-After. */
const RETRY_LATER_KINDS: readonly FailureKind[] = ['too-many', 'busy', 'waking', 'delayed'];
/** Shorter delays are not mentioned: the page has waited for them already, or the announced start has passed. */
const MIN_ANNOUNCED_SECONDS = 60;
/** The API client cuts Retry-After at this value, so the true time may be later. */
const MAX_ANNOUNCED_SECONDS = 30 * 86_400;

/** @param link that failed, whose site is named where it matters */
export function failureText(texts: Texts, failure: FailureLike, link?: string): FailureText {
  const { t } = texts;
  const key = keyOf(texts, failure);
  const site = siteOf(texts, link);
  return { title: t(key), what: laterText(texts, failure, site) ?? t(`${key}.what`, { site }) };
}

/** The advice where the instance says when to retry. */
function laterText({ t, locale }: Texts, failure: FailureLike, site: string): string | undefined {
  const { kind, problem, retryAfterSeconds: seconds = 0 } = failure;
  if (seconds < MIN_ANNOUNCED_SECONDS || seconds >= MAX_ANNOUNCED_SECONDS) return undefined;
  const format = createFormat(locale);
  if (problem === 'not-started') return t('failure.not-started.when', { when: format.until(seconds) });
  const duration = format.duration(seconds);
  if (problem === 'rate-limited') return t('failure.rate-limited.later', { site, duration });
  return RETRY_LATER_KINDS.includes(kind) ? t('failure.later.what', { duration }) : undefined;
}

/** The host name of a link, as a subject. */
function siteOf({ t, direction }: Texts, link: string | undefined): string {
  const host = URL.parse(link ?? '')?.hostname.replace(/^www\./, '');
  if (!host) return t('failure.site');
  // Unicode isolates: the name is left-to-right in a right-to-left text.
  return direction === 'rtl' ? `\u2068${host}\u2069` : host;
}

/** The same for a stream, where not-found means an expired key. */
export function streamFailureText(texts: Texts, failure: FailureLike, link?: string): FailureText {
  const { kind, problem = 'not-found' } = failure;
  const isExpired = kind === 'not-found' && problem === 'not-found';
  return failureText(texts, isExpired ? { ...failure, problem: 'link-refused' } : failure, link);
}

/** The progress of maintenance: `Fetching yt-dlp: 12 MB of 34 MB (35%)`. */
export function progressText({ t, locale }: Texts, { step, tool, receivedBytes, totalBytes }: ToolProgress): string {
  if (step !== 'fetch') return t(`waiting.tools.${step}` satisfies TextKey, { tool });
  if (receivedBytes === undefined) return t('waiting.tools.fetch', { tool });
  const format = createFormat(locale);
  const received = format.bytes(receivedBytes);
  if (!totalBytes) return t('waiting.tools.received', { tool, received });
  const share = format.percent(receivedBytes / totalBytes);
  return t('waiting.tools.share', { tool, received, total: format.bytes(totalBytes), share });
}

/** Permanent problems, although others of their kind are temporary. */
const LASTING: readonly (string | undefined)[] = ['private-address', 'ended', 'headers-too-large', 'no-media'];

/** Whether a retry may succeed. */
export const isWorthRetrying = ({ kind, problem }: FailureLike): boolean =>
  problem === 'bot-check' || (kind !== 'bad-link' && kind !== 'refused' && !LASTING.includes(problem));
