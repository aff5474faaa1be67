/** What CDK runs, by `cdk.json`: makes what is deployed, then describes it. */
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { SettingError } from '../core/config/index.ts';
import { buildPage, bundle } from './build/index.ts';
import { checkPlace, readContext } from './config/index.ts';
import { createApp } from './create-app.ts';

/** Where the page's build goes too. */
const BUNDLE_DIR = join(import.meta.dirname, '..', 'dist');
// Set by CDK's command line from the credentials it found.
const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;

try {
  // A setting that makes no sense is told before anything is built.
  const settings = readContext(new App({ autoSynth: false }).node.getAllContext());
  checkPlace(settings, { ...(account && { account }), ...(region && { region }) });
  await bundle({ outDir: BUNDLE_DIR });
  await buildPage();
  createApp({ bundleDir: BUNDLE_DIR, ...(account && region && { env: { account, region } }) }).synth();
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
