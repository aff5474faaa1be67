import { describe, expect, it } from 'vitest';
import { PROBLEM_TYPES } from '../../../core/api/problem-types.ts';
import first from '../../../web/locales/en.json' with { type: 'json' };
import type { FailureKind } from '../../../web/src/api/index.ts';
import type { Texts } from '../../../web/src/lib/index.ts';
import { failureText, isWorthRetrying } from '../../../web/src/ui/failure-text.ts';

const texts = { locale: 'en', t: (key: string) => key } as unknown as Texts;

const KINDS: Readonly<Record<number, FailureKind>> = { 404: 'not-found', 415: 'refused', 502: 'failed' };
/** Types whose words are those of their status. */
const GENERAL = ['not-found', 'refused', 'site-error'];

const problems = Object.entries(PROBLEM_TYPES).flatMap(([problem, { status }]) => {
  const kind = KINDS[status];
  return kind ? [{ problem, kind }] : [];
});

describe('failureText', () => {
  it.each(problems)('has words for $problem', ({ problem, kind }) => {
    const { title, what } = failureText(texts, { problem, kind });
    expect(Object.keys(first)).toEqual(expect.arrayContaining([title, what]));
    expect(title === `failure.${kind}`).toBe(GENERAL.includes(problem));
  });

  it('falls back on the kind for a type that it does not know', () =>
    expect(failureText(texts, { kind: 'refused', problem: 'constructor' }).title).toBe('failure.refused'));

  it('keeps the words of a stream that failed for what the type says', () =>
    expect(failureText(texts, { kind: 'failed', problem: 'drm' }).title).toBe('failure.protected'));

  it('names the time after which a site accepts requests again', () =>
    expect(failureText(texts, { kind: 'failed', problem: 'rate-limited', retryAfterSeconds: 300 }).what).toBe(
      'failure.later.what',
    ));

  it('offers another attempt after a bot check, not after other refusals', () =>
    expect(['bot-check', 'drm'].map((problem) => isWorthRetrying({ kind: 'refused', problem }))).toEqual([
      true,
      false,
    ]));
});
