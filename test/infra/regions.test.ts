import { describe, expect, it } from 'vitest';
import { DEPLOYMENT_NAMES, template } from './deployments.ts';
import type { Template } from './permissions.ts';
import { synthesize } from './synth.ts';
import { explicitNames, resourcesOfType } from './template.ts';

/** Types whose names are unique in an account, not in a region. */
const GLOBAL = /^AWS::((CloudFront|IAM|S3|Budgets)::|Lambda::WebFunction$)/;

const globalNames = ({ Resources }: Template): string[] =>
  explicitNames({
    Resources: Object.fromEntries(Object.entries(Resources).filter(([, { Type }]) => GLOBAL.test(Type))),
  });

// Of every deployment, the next test has the region in each name: these have a stack in another region, and a Web Function.
describe.each(['public', 'lambda'] as const)('two regions of %s', (profile) => {
  it('share no account-wide name with the same stage in another region', async () => {
    const here = await synthesize(`${profile} in eu-central-1`);
    const elsewhere = await synthesize(`${profile} in eu-west-1`);
    const names = (of: typeof here) => Object.values(of.templates).flatMap(globalNames);
    expect(names(here).length).toBeGreaterThan(4);
    expect(names(here).filter((name) => names(elsewhere).includes(name))).toEqual([]);
    // The firewall stack is in us-east-1 in both cases.
    const firewalls = (of: typeof here) => of.stacks.filter((name) => name !== 'reelay-main');
    expect(firewalls(here)).toHaveLength(profile === 'public' ? 1 : 0);
    expect(firewalls(here).filter((name) => firewalls(elsewhere).includes(name))).toEqual([]);
  });
});

describe.each(DEPLOYMENT_NAMES)('profile %s', (profile) => {
  it('includes the region in every account-wide name when it is unknown at synthesis', () => {
    for (const name of globalNames(template(profile))) expect(name).toContain('<AWS::Region>');
  });

  it('does not tag CloudFront functions, whose creation can fail with tags', () => {
    const [route, ...more] = resourcesOfType(template(profile), 'AWS::CloudFront::Function');
    expect(more).toEqual([]);
    expect(route?.properties).not.toHaveProperty('Tags');
  });
});
