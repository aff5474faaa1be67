import { join } from 'node:path';
import { CfnResource, type Stack } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { expect, it } from 'vitest';
import { SettingError } from '../../core/config/parsers.ts';
import { writePlaceholders } from '../../infra/build/placeholders.ts';
import { createApp } from '../../infra/create-app.ts';
import { flags, temporaryFolder } from './synth.ts';

it('fails on errors of cdk-nag and CloudFormation validation only', () => {
  const folder = temporaryFolder();
  const app = createApp({
    bundleDir: writePlaceholders(folder),
    context: { ...flags, profile: 'hobby' },
    outdir: join(folder, 'out'),
  });
  const stack = app.node.findChild('reelay-main') as Stack;
  new Bucket(stack, 'Open');
  new CfnResource(stack, 'Long', { type: 'AWS::SQS::Queue', properties: { MessageRetentionPeriod: 'for ever' } });

  expect(findingsOf(() => app.synth())).toEqual([
    expect.stringMatching(/AwsSolutions-S1'/),
    expect.stringMatching(/AwsSolutions-S10'/),
    expect.stringMatching(/^ERROR MessageRetentionPeriod.*CloudFormation-Validate/s),
  ]);
});

it('rejects an invalid setting before it creates a stack', () => {
  const options = { bundleDir: '/nowhere', context: { ...flags, stage: 'No' }, outdir: temporaryFolder() };
  expect(() => createApp(options)).toThrow(SettingError);
});

/** Findings in the error of a synthesis. */
function findingsOf(synthesize: () => unknown): string[] {
  try {
    synthesize();
  } catch (error) {
    return String(error)
      .split('\n\n')
      .map((text) => text.replace(/^.*?(?=ERROR)/s, ''))
      .filter((text) => text.startsWith('ERROR'));
  }
  return [];
}
