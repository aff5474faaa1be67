import { describe, expect, it } from 'vitest';
import { PROFILE_NAMES, template } from '../deployments.ts';
import type { Template } from '../permissions.ts';
import { mainTemplate } from '../synth.ts';
import { findViewerFailures } from './viewers.ts';

const NONE = { failures: [], moments: expect.any(Number) };
const CHANGES = PROFILE_NAMES.flatMap((from) =>
  PROFILE_NAMES.filter((to) => to !== from).map((to) => [from, to] as const),
);
const PRIVATE = ['private hobby, to change', 'private team, to change'] as const;
const MORE = [
  ...PRIVATE.flatMap((from) => PRIVATE.filter((to) => to !== from).map((to) => [from, to] as const)),
  ...(['hobby', 'team'] as const).flatMap((open) => [
    [open, `private ${open}, to change`] as const,
    [`private ${open}, to change`, open] as const,
  ]),
  ...[
    ['hobby', 'rotated hobby'] as const,
    ['team', 'rotated team'] as const,
    ['team', 'private hobby, to change'] as const,
  ],
];

describe('viewers during every moment of a deployment, its cleanup and its rollbacks, in any order', () => {
  it.each(CHANGES)('are served while %s becomes %s', async (from, to) => {
    const seen = await findViewerFailures(template(from), template(to));
    expect(seen).toEqual(NONE);
    expect(seen.moments).toBeGreaterThan(1);
  });

  it.each(MORE)('are served while %s becomes %s', async (from, to) =>
    expect(await findViewerFailures(await mainTemplate(from), await mainTemplate(to))).toEqual(NONE),
  );

  it.each([
    [
      'one edge function for both modes',
      'hobby',
      'team',
      oneFunction,
      /^stream over the former .*: it has no origin stream/,
    ],
    [
      'one edge function for both modes',
      'team',
      'hobby',
      oneFunction,
      /^stream over the former .*: it has no origin for a task/,
    ],
    ['tasks that start after it', 'hobby', 'team', withoutOrder, /^stream over the next .*: stream lacks \w+Service/],
    ['permissions that follow it', 'team', 'hobby', followers, /^stream over the next .*: wake lacks StreamsWake/],
  ] as const)('are not served with %s, from %s to %s', async (_, from, to, break_, failure) => {
    const { failures } = await findViewerFailures(break_(template(from)), break_(template(to)));
    expect(failures).toContainEqual(expect.stringMatching(failure));
  });
});

type Resources = Record<string, { Type: string; DependsOn?: string[] }>;

const oneFunction = (of: object): Template =>
  JSON.parse(
    JSON.stringify(of)
      .replaceAll(/EdgeRoute(ondemand|balanced)\w{8}/g, 'EdgeRoute')
      .replaceAll(/-(on-demand|balanced)"/g, '"'),
  );

function withoutOrder(of: object): Template {
  const copy = structuredClone(of) as { Resources: Resources };
  for (const resource of Object.values(copy.Resources))
    if (resource.Type === 'AWS::CloudFront::Distribution') resource.DependsOn = [];
  return copy;
}

function followers(of: object): Template {
  const copy = withoutOrder(of) as { Resources: Resources };
  const [id = ''] =
    Object.entries(copy.Resources).find(([, { Type }]) => Type === 'AWS::CloudFront::Distribution') ?? [];
  for (const resource of Object.values(copy.Resources))
    if (JSON.stringify(resource).includes(':distribution/*')) resource.DependsOn = [id];
  return copy;
}
