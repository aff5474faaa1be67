/** What CDK runs, by `cdk.json`: bundles what is deployed, then describes it. */
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { createApp } from './create-app.ts';
import { ContextError } from './settings.ts';

const BUNDLE_DIR = join(import.meta.dirname, '..', 'dist');
// Set by CDK's command line from the credentials it found.
const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env;

try {
  await bundle({ outDir: BUNDLE_DIR });
  createApp({ bundleDir: BUNDLE_DIR, ...(account && region && { env: { account, region } }) }).synth();
} catch (error) {
  if (!(error instanceof ContextError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
