import { describe, expect, it } from 'vitest';
import { PROFILE_NAMES } from '../deployments.ts';
import { type Name, templateOf } from './changes.ts';
import { findViewerFailures } from './viewers.ts';

const PRIVATE = ['private hobby, to change', 'private team, to change'] as const;
/** In both directions: a change has its rollback too. */
const CHANGES: readonly (readonly [one: Name, other: Name])[] = [
  ...PROFILE_NAMES.flatMap((one, index) => PROFILE_NAMES.slice(index + 1).map((other) => [one, other] as const)),
  PRIVATE,
  ['hobby', PRIVATE[0]],
  ['team', PRIVATE[1]],
  ['team', PRIVATE[0]],
  ['hobby', 'rotated hobby'],
  ['team', 'rotated team'],
];

describe('viewers while edge function and distribution are of different versions', () => {
  it.each(CHANGES)('are served between %s and %s', async (one, other) =>
    expect(await findViewerFailures(await templateOf(one), await templateOf(other))).toEqual([]),
  );

  it.each([
    ['hobby', 'team', /^\/api\/Stream.* over the former .*: it has no origin stream/],
    ['team', 'hobby', /^\/api\/Stream.* over the former .*: it has no origin for a task/],
  ] as const)('are not served by one edge function for both modes, from %s to %s', async (from, to, failure) => {
    const oneFunction = async (name: Name) =>
      JSON.parse(
        JSON.stringify(await templateOf(name))
          .replaceAll(/EdgeRoute(ondemand|balanced)\w{8}/g, 'EdgeRoute')
          .replaceAll(/-(on-demand|balanced)"/g, '"'),
      );
    expect(await findViewerFailures(await oneFunction(from), await oneFunction(to))).toContainEqual(
      expect.stringMatching(failure),
    );
  });
});
