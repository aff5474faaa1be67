import { describe, expect, it } from 'vitest';
import { urlExpiresAt } from '../../../../core/resolve/yt-dlp/requests.ts';

describe('urlExpiresAt', () => {
  const NOW = 1_790_000_000;

  it.each([
    ['expire=1790003600', NOW + 3600],
    ['Expires=1790003600&expire=1790007200', NOW + 3600],
    ['e=1790003600', NOW + 3600],
    ['expires=1790003600000', NOW + 3600],
    ['X-Amz-Date=20260921T130640Z&X-Amz-Expires=300', 1_789_996_000 + 300],
    ['x-goog-date=20260921T150000Z&x-goog-expires=3600', Date.UTC(2026, 8, 21, 16) / 1000],
    ['expire=1789999999', undefined],
    ['expire=9990003600', undefined],
    ['e=12', undefined],
    ['e=abc', undefined],
    ['X-Amz-Date=x&X-Amz-Expires=y', undefined],
    ['', undefined],
    ['expire=01790003600', undefined],
    ['expire=1790003600.5', undefined],
    ['expire=', undefined],
    ['expired=1790003600', undefined],
    ['X-Amz-Date=20260921T130640Z', undefined],
    ['X-Amz-Date=20260921T130640Z&X-Amz-Expires=', undefined],
    ['X-Amz-Expires=1790003600', undefined],
    [`${'a=1&'.repeat(99)}e=1790003600`, NOW + 3600],
    [`${'a=1&'.repeat(100)}e=1790003600`, undefined],
  ])('reads ?%s as %s', (query, expected) =>
    expect(urlExpiresAt(`https://cdn.example/?${query}`, Math.min(NOW, (expected ?? NOW + 1) - 1))).toBe(expected),
  );

  it('reads the expiry from a path', () =>
    expect(urlExpiresAt('https://cdn.example/manifest/expire/1790003600/x', NOW)).toBe(NOW + 3600));

  it.each([
    [0, undefined],
    [1, NOW + 1],
    [400 * 86_400 - 1, NOW + 400 * 86_400 - 1],
    [400 * 86_400, undefined],
  ])('takes a time %d s from now for %s', (seconds, expected) =>
    expect(urlExpiresAt(`https://cdn.example/?e=${NOW + seconds}`, NOW)).toBe(expected),
  );

  it.each(['no URL', ''])('reads nothing of %j', (url) => expect(urlExpiresAt(url, NOW)).toBeUndefined());
});
