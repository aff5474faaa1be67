import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, it } from 'vitest';
import { createStack } from '../../docs/examples/reelay-in-a-stack.ts';
import { createApp } from '../../infra/create-app.ts';
import { Reelay } from '../../infra/reelay.ts';
import type { Template } from './permissions.ts';
import { flags, placeholderBundle, temporaryFolder } from './synth.ts';
import { resourcesOfType } from './template.ts';

it('is a construct of any stack, which reads no settings of the context', () => {
  const folder = temporaryFolder();
  const context = { ...flags, profile: 'public', stage: 'of-another-app', 'min-tasks': 3 };
  const app = new App({ context, outdir: join(folder, 'out') });
  const bundleDir = placeholderBundle(join(folder, 'bundle'));
  const stack = createStack(app, bundleDir);
  const { template } = app.synth().getStackByName(stack.stackName) as { template: Template & { Outputs: object } };
  const [distribution, ...others] = resourcesOfType(template, 'AWS::CloudFront::Distribution');
  expect(others).toEqual([]);
  expect(distribution?.id).toMatch(/^MediaEdgeDistribution/);
  expect(distribution?.properties.DistributionConfig).toMatchObject({ Comment: 'Reelay media' });
  expect(resourcesOfType(template, 'AWS::ElasticLoadBalancingV2::LoadBalancer')).toEqual([]);
  expect(template.Outputs).toHaveProperty('MediaUrl');
});

it('refuses settings as a deployment does', () => {
  const app = createApp({ bundleDir: placeholderBundle(temporaryFolder()), context: flags, outdir: temporaryFolder() });
  const create = () =>
    new Reelay(app.node.findChild('reelay-main') as never, 'Other', {
      minTasks: 9,
      maxTasks: 2,
      bundleDir: '/nowhere',
    });
  expect(create).toThrow(/^minTasks must be at most maxTasks/);
});
