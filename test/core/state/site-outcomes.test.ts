import { describe, expect, it } from 'vitest';
import { addOutcome, type SiteOutcomes, speaksAgainstRelease } from '../../../core/state/site-outcomes.ts';

const NOW = 1_800_000_000;
const DAY = 24 * 3600;
const works = { resolvedAt: NOW - 3600 };
const fails = { resolvedAt: NOW - 3600, failedAt: NOW - 60 };

describe('speaksAgainstRelease', () => {
  it.each<[string, SiteOutcomes, boolean]>([
    ['nothing has ever resolved', {}, false],
    ['the only site fails', { 'a.example': fails }, true],
    ['the only site works', { 'a.example': works }, false],
    ['both of two sites fail', { 'a.example': fails, 'b.example': fails }, true],
    ['one of two sites fails', { 'a.example': fails, 'b.example': works }, false],
    ['two of many sites fail', { a: fails, b: fails, c: works, d: works }, false],
    ['three of many sites fail', { a: fails, b: fails, c: fails, d: works, e: works }, true],
    ['the only failure is an hour old', { a: { resolvedAt: NOW - DAY, failedAt: NOW - 3600 } }, false],
    ['a site that no one asks for any more', { a: fails, b: { resolvedAt: NOW - 31 * DAY } }, true],
  ])('%s', (_, outcomes, expected) => expect(speaksAgainstRelease(outcomes, NOW)).toBe(expected));
});

describe('addOutcome', () => {
  it('knows a site from its first success', () => {
    expect(addOutcome({}, 'a.example', true, NOW)).toEqual({});
    const known = addOutcome({}, 'a.example', false, NOW);
    expect(known).toEqual({ 'a.example': { resolvedAt: NOW } });
    expect(addOutcome(known, 'a.example', true, NOW + 1)).toEqual({
      'a.example': { resolvedAt: NOW, failedAt: NOW + 1 },
    });
  });

  it('a success ends a failure', () => {
    expect(addOutcome({ a: fails }, 'a', false, NOW)).toEqual({ a: { resolvedAt: NOW } });
  });

  it.each([
    ['success', { resolvedAt: NOW }, false],
    ['failure', { resolvedAt: NOW - DAY, failedAt: NOW }, true],
  ])('repeats a %s after five minutes', (_, outcome, hasFailed) => {
    const outcomes = { a: outcome };
    expect(addOutcome(outcomes, 'a', hasFailed, NOW + 299)).toBe(outcomes);
    expect(addOutcome(outcomes, 'a', hasFailed, NOW + 300)).not.toEqual(outcomes);
  });

  it('is bounded: a hundred sites, each for 30 days after its last success', () => {
    const old = { resolvedAt: NOW - 31 * DAY };
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}.example`, works]));
    expect(addOutcome(many, 'a.example', false, NOW)).toBe(many);
    expect(Object.keys(addOutcome({ ...many, '0.example': old }, 'a.example', false, NOW))).toHaveLength(100);
  });

  it.each(['__proto__', 'constructor'])('a site may be called %s', (name) => {
    expect(addOutcome({}, name, true, NOW)).toEqual({});
    expect(Object.keys(addOutcome({}, name, false, NOW))).toEqual([name]);
  });
});
