/** The app that `cdk.json` names: validates settings, builds the bundles and the page, then synthesizes the stacks. */
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { SettingError } from '../core/config/index.ts';
import { buildPage, bundle, placeFfmpeg } from './build/index.ts';
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
  const settings = readContext(new App({ autoSynth: false }).node.getAllContext());
  checkTarget(settings, { ...(account && { account }), ...(region && { region }) });
  deployedSource({ settings, profile: profileOf(settings) });
  await bundle({ outDir: BUNDLE_DIR });
  await placeFfmpeg({ dir: join(BUNDLE_DIR, 'stream-service'), architecture: settings.architecture });
  await buildPage();
  createApp({ bundleDir: BUNDLE_DIR, ...(account && region && { env: { account, region } }) }).synth();
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
