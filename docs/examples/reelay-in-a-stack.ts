/**
 * Puts Reelay into a stack beside other things. In a CDK app of your own: `createStack(new App())`, after `buildReelay()`.
 */
import { type App, CfnOutput, Stack } from 'aws-cdk-lib';
import { buildAssets, Reelay } from '../../infra/index.ts';

const BUNDLE_DIR = 'dist/deployment';

/** Builds what is deployed, where its sources have changed. Once before the synthesis. */
export const buildReelay = (): Promise<void> => buildAssets({ outDir: BUNDLE_DIR, architecture: 'arm64' });

/** @param bundleDir folder of the bundles */
export function createStack(app: App, bundleDir = BUNDLE_DIR): Stack {
  const stack = new Stack(app, 'Site');
  const media = new Reelay(stack, 'Media', { profile: 'hobby', stage: 'media', idleMinutes: 5, bundleDir });
  // Any other construct of the stack may use its address.
  new CfnOutput(stack, 'MediaUrl', { value: media.baseUrl });
  return stack;
}
