/** The app that `cdk.json` names: validates settings, builds what has changed since the last build, and synthesizes the stacks. */
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { SettingError } from '../core/config/index.ts';
import { buildAssets, writePlaceholders } from './build/index.ts';
import { deployedSource } from './constructs/index.ts';
import { createApp } from './create-app.ts';
import { profileOf } from './profiles.ts';
import { checkTarget, readContext } from './settings.ts';

/** Output of the bundles and of the page (`dist/web`). */
const BUNDLE_DIR = join(import.meta.dirname, '..', 'dist');
// Set by the CDK CLI from the credentials it found.
const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;

try {
  // Reports invalid settings before the slow build.
  const context = new App({ autoSynth: false }).node.getAllContext();
  const settings = readContext(context);
  checkTarget(settings, { ...(account && { account }), ...(region && { region }) });
  deployedSource({ settings, profile: profileOf(settings) });
  const synthesize = (bundleDir: string) =>
    createApp({ bundleDir, ...(account && region && { env: { account, region } }) }).synth();
  // The CDK CLI names no stack to bundle where no command needs an asset: `list` and `destroy`.
  if (context[BUNDLING_STACKS]?.length === 0) synthesize(writePlaceholders(join(BUNDLE_DIR, 'placeholders')));
  else {
    await buildAssets({ ...settings, outDir: BUNDLE_DIR });
    synthesize(BUNDLE_DIR);
  }
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
