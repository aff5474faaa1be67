/** The app that `cdk.json` names: validates settings, builds what has changed since the last build, and synthesizes the stacks. */
import { join } from 'node:path';
import { App, CfnRule, Fn, Stack } from 'aws-cdk-lib';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { SettingError } from '../core/config/index.ts';
import { buildAssets, writePlaceholders } from './build/index.ts';
import { deployedSource } from './constructs/index.ts';
import { createApp } from './create-app.ts';
import { profileOf } from './profiles.ts';
import { checkTarget, readContext } from './settings.ts';

/** What is deployed. Not `dist` itself, where `npm start` builds its page. */
const DIST = join(import.meta.dirname, '..', 'dist');
// Set by the CDK CLI from the credentials it found.
const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;

try {
  // Reports invalid settings before the slow build.
  const context = new App({ autoSynth: false }).node.getAllContext();
  const settings = readContext(context);
  checkTarget(settings, { ...(account && { account }), ...(region && { region }) });
  deployedSource({ settings, profile: profileOf(settings) });
  const create = (bundleDir: string) =>
    createApp({ bundleDir, ...(account && region && { env: { account, region } }) });
  // The CDK CLI names no stack to bundle where its command needs no asset: `list` and `destroy`.
  if (context[BUNDLING_STACKS]?.length === 0) {
    const app = create(writePlaceholders(join(DIST, 'placeholders')));
    refuseDeployment(app);
    app.synth();
  } else {
    const outDir = join(DIST, 'deployment');
    await buildAssets({ outDir });
    create(outDir).synth();
  }
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** Has CloudFormation refuse the templates, which stay in `cdk.out`: `deploy --app cdk.out` would deploy placeholders. */
function refuseDeployment(app: App): void {
  for (const stack of app.node.children.filter(Stack.isStack))
    new CfnRule(stack, 'NotBuilt', {
      assertions: [
        {
          assert: Fn.conditionEquals('placeholders', 'assets'),
          assertDescription: 'This template was made for cdk list or destroy: run cdk synth, or deploy without --app',
        },
      ],
    });
}
