import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, type Environment, Stack, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { checkPlace, type Deployment, profileOf, readContext } from './config/index.ts';
import { Firewall } from './constructs/edge/index.ts';
import { ReelayStack } from './reelay-stack.ts';

export interface AppOptions {
  /** The folder with what runs: `functions/<name>`, `stream-service`. */
  readonly bundleDir: string;
  /** Settings, and CDK's own feature flags. What CDK's command line passes is added to it. @default none */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Where to. @default wherever the stack is deployed: no region known, none looked up */
  readonly env?: Environment;
  /** The folder for the cloud assembly. @default CDK's */
  readonly outdir?: string;
  /** @default now */
  readonly deployedAt?: string;
}

/** Where CloudFront looks for firewalls. */
const CLOUDFRONT_REGION = 'us-east-1';
const ROOT = join(import.meta.dirname, '..');
const PLACEHOLDER_PAGE = join(import.meta.dirname, 'placeholder-page');

/**
 * The CDK app: the stack of one stage, and beside it the firewall's where that has to be in another region.
 * @throws SettingError in one line that names the setting
 */
export function createApp({ bundleDir, context = {}, env, outdir, deployedAt }: AppOptions): App {
  const app = new App({ context: { ...context }, ...(outdir && { outdir }) });
  const settings = readContext(app.node.getAllContext());
  checkPlace(settings, env ?? {});
  const pageDir = join(bundleDir, 'web');
  const deployment: Deployment = {
    settings,
    profile: profileOf(settings),
    bundleDir,
    pageDir: existsSync(pageDir) ? pageDir : PLACEHOLDER_PAGE,
    pageHeadersFile: join(ROOT, 'web', 'security-headers.json'),
    deployedAt: deployedAt ?? new Date().toISOString(),
  };
  const name = `reelay-${settings.stage}`;
  const firewall = createFirewall(app, name, deployment, env);
  new ReelayStack(app, name, {
    deployment,
    description: `Reelay ${version()}, stage ${settings.stage}, profile ${settings.profile}`,
    ...(env && { env }),
    ...(firewall && { firewall: firewall.attrArn, crossRegionReferences: true }),
  });
  // Any change of a VPC origin fails the update, even of its tags.
  const untagged = { excludeResourceTypes: ['AWS::CloudFront::VpcOrigin'] };
  Tags.of(app).add('reelay:stage', settings.stage, untagged);
  Tags.of(app).add('reelay:profile', settings.profile, untagged);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}

/** In its own stack where the region is known and is another. */
function createFirewall(app: App, name: string, { profile }: Deployment, env?: Environment): Firewall | undefined {
  if (!profile.firewall || !env?.region || env.region === CLOUDFRONT_REGION) return undefined;
  const stack = new Stack(app, `${name}-edge`, {
    description: 'Reelay: what CloudFront wants in us-east-1',
    env: { ...env, region: CLOUDFRONT_REGION },
    crossRegionReferences: true,
  });
  return new Firewall(stack, 'Firewall', { limits: profile.firewall });
}

const version = (): string => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;
