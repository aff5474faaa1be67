import { describe, expect, it } from 'vitest';
import { compareVersions, folderNameOf, isReleaseTag } from '../src/tools.ts';

describe('compareVersions', () => {
  it.each([
    ['2026.08.19', '2026.08.19', 0],
    ['2026.8.19', '2026.08.19', 0],
    ['2026.10.26', '2026.08.19', 1],
    ['2026.08.19', '2026.08.19.233456', -1],
    ['2025.12.31', '2026.01.01', -1],
    ['7.0.2-static', '7.0.10', -1],
    ['n9.0.2-17-g2a571b6068', '5.1.9-0+deb12u1', 1],
    ['nonsense', '0.1', -1],
  ])('returns for %s and %s: %d', (a, b, sign) => {
    expect(Math.sign(compareVersions(a, b))).toBe(sign);
    expect(Math.sign(compareVersions(b, a))).toBe(0 - sign);
  });
});

describe('isReleaseTag', () => {
  it.each(['2026.08.19', '2026.11.20.233456'])('accepts %s', (tag) => expect(isReleaseTag(tag)).toBe(true));
  it.each(['', 'latest', '2026.08', '../2026.08.19', '2026.08.19/..', '2026.08.19?x', 'v2026.08.19'])(
    'rejects %j',
    (tag) => expect(isReleaseTag(tag)).toBe(false),
  );
});

describe('folderNameOf', () => {
  it.each([
    ['2026.08.19', '2026.08.19'],
    ['5.1.9-0+deb12u1', '5.1.9-0+deb12u1'],
    ['../../etc', '_.._etc'],
    ['..', 'unknown'],
    ['.staged-1', 'staged-1'],
    ['a b/c\n', 'a_b_c_'],
    ['', 'unknown'],
  ])('turns %j into %j', (version, name) => expect(folderNameOf(version)).toBe(name));

  it('returns 60 characters at most', () => expect(folderNameOf('9'.repeat(1000))).toHaveLength(60));
});
