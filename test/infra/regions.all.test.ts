import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SettingError } from '../../core/config/parsers.ts';
import { checkTarget, readContext } from '../../infra/settings.ts';
import { PROFILE_NAMES, template } from './deployments.ts';
import type { Template } from './permissions.ts';
import { findMissingTypes, renderRegionTable } from './region-reference.ts';
import { mainTemplate, synthesize } from './synth.ts';
import { explicitNames, resourcesOfType } from './template.ts';

/** Types whose names are unique in an account, not in a region. */
const GLOBAL = /^AWS::((CloudFront|IAM|S3|Budgets)::)/;

const globalNames = ({ Resources }: Template): string[] =>
  explicitNames({
    Resources: Object.fromEntries(Object.entries(Resources).filter(([, { Type }]) => GLOBAL.test(Type))),
  });

// Of every deployment, the next test has the region in each name: this one has a stack in another region.
describe('two regions of public', () => {
  it('share no account-wide name with the same stage in another region', async () => {
    const here = await synthesize('public in eu-central-1');
    const elsewhere = await synthesize('public in eu-west-1');
    const names = (of: typeof here) => Object.values(of.templates).flatMap(globalNames);
    expect(names(here).length).toBeGreaterThan(4);
    expect(names(here).filter((name) => names(elsewhere).includes(name))).toEqual([]);
    // The firewall stack is in us-east-1 in both cases.
    const firewalls = (of: typeof here) => of.stacks.filter((name) => name !== 'reelay-main');
    expect(firewalls(here)).toHaveLength(1);
    expect(firewalls(here).filter((name) => firewalls(elsewhere).includes(name))).toEqual([]);
  });
});

describe.each(PROFILE_NAMES)('profile %s', (profile) => {
  it('includes the region in every account-wide name when it is unknown at synthesis', () => {
    for (const name of globalNames(template(profile))) expect(name).toContain('<AWS::Region>');
  });

  it('does not tag CloudFront functions, whose creation can fail with tags', () => {
    const functions = resourcesOfType(template(profile), 'AWS::CloudFront::Function');
    expect(functions).toHaveLength(2);
    for (const { properties } of functions) expect(properties).not.toHaveProperty('Tags');
  });
});

it('has the table of regions as the installed CDK knows them: npm run dev -- docs', () => {
  const table = findMissingTypes({
    hobby: template('hobby'),
    team: template('team'),
    public: template('public'),
  });
  const file = join(import.meta.dirname, '../../infra/regions.json');
  expect(readFileSync(file, 'utf8')).toBe(renderRegionTable(table));
});

it('omits the budget where a region has none', async () => {
  const here = await mainTemplate('team in eu-north-1');
  expect(resourcesOfType(here, 'AWS::Budgets::Budget')).toEqual([]);
});

it('refuses a profile for which a region lacks a part', () => {
  const check = () => checkTarget(readContext({ profile: 'hobby' }), { region: 'ap-east-2' });
  expect(check).toThrow(SettingError);
  expect(check).toThrow('ap-east-2 has no function URLs, which this deployment needs: deploy profile=team there, or ');
});

it('refuses the partitions without edge functions', () =>
  expect(() => checkTarget(readContext({}), { region: 'cn-north-1' })).toThrow(/^cn-north-1 is not supported: /));

it('refuses a load balancer where VPC origins do not reach it', () => {
  const check = () => checkTarget(readContext({ profile: 'public' }), { region: 'ap-southeast-6' });
  expect(check).toThrow(
    /^ap-southeast-6 has no VPC origins of CloudFront, which this deployment needs: deploy this one to/,
  );
});

it.each(['eu-north-1', 'ap-southeast-7', 'me-south-1', 'xx-new-1'])('admits team in %s', (region) =>
  expect(() => checkTarget(readContext({ profile: 'team' }), { region })).not.toThrow(),
);
