import { join } from 'node:path';
import { CfnResource, type Stack } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { expect, it } from 'vitest';
import { SettingError } from '../../core/config/parsers.ts';
import { createApp } from '../../infra/create-app.ts';
import { flags, placeholderBundle, temporaryFolder } from './synth.ts';

it('fails on what cdk-nag and CloudFormation find wrong, and on that alone', () => {
  const folder = temporaryFolder();
  const app = createApp({
    bundleDir: placeholderBundle(folder),
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

it('refuses a setting before it describes anything', () => {
  const options = { bundleDir: '/nowhere', context: { ...flags, stage: 'No' }, outdir: temporaryFolder() };
  expect(() => createApp(options)).toThrow(SettingError);
});

/** What the error of a synthesis lists. */
function findingsOf(synthesise: () => unknown): string[] {
  try {
    synthesise();
  } catch (error) {
    return String(error)
      .split('\n\n')
      .map((text) => text.replace(/^.*?(?=ERROR)/s, ''))
      .filter((text) => text.startsWith('ERROR'));
  }
  return [];
}
