import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, type Environment, Fn, Stack, type StackProps, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { Construct } from 'constructs';
import { Firewall, Reelay, useStackLogGroups } from './constructs/index.ts';
import { type Deployment, profileOf } from './profiles.ts';
import { CLOUDFRONT_REGION, checkTarget, firewallStackNameOf, readContext, stackNameOf } from './settings.ts';

interface AppOptions {
  /** Folder of the bundles: `functions/<name>`, `stream-service`, `web`. */
  readonly bundleDir: string;
  /** Settings and CDK feature flags; context from the CDK CLI is added. @default none */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Account and region. @default environment-agnostic: known only at deployment */
  readonly env?: Environment;
  /** Folder for the cloud assembly. @default CDK's */
  readonly outdir?: string;
}

const ROOT = join(import.meta.dirname, '..');

/**
 * Creates the CDK app of one stage: the service's stack and, when that stack is in a known region other than us-east-1 and
 * the profile has a firewall, a second stack for the firewall there.
 * @throws SettingError when a setting is invalid; one line that names it
 */
export function createApp({ bundleDir, context = {}, env, outdir }: AppOptions): App {
  const app = new App({ context: { ...context }, ...(outdir && { outdir }) });
  const settings = readContext(app.node.getAllContext());
  checkTarget(settings, env ?? {});
  const deployment = { settings, profile: profileOf(settings), bundleDir };
  const firewall = createFirewall(app, deployment, env);
  new ReelayStack(app, stackNameOf(settings), {
    deployment,
    description: `Reelay ${version()}, stage ${settings.stage}, profile ${settings.profile}`,
    ...(env && { env }),
    ...(firewall && { firewall: firewall.attrArn, crossRegionReferences: true }),
  });
  Tags.of(app).add('reelay:stage', settings.stage);
  Tags.of(app).add('reelay:profile', settings.profile);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}

/** The firewall in a stack of its own; undefined when none is needed or the main stack contains it. */
function createFirewall(
  app: App,
  { profile, settings }: Pick<Deployment, 'profile' | 'settings'>,
  env?: Environment,
): Firewall | undefined {
  if (!profile.firewall || !env?.region || env.region === CLOUDFRONT_REGION) return undefined;
  const stack = new Stack(app, firewallStackNameOf(settings, env.region), {
    description: 'Reelay: resources of CloudFront that must be in us-east-1',
    env: { ...env, region: CLOUDFRONT_REGION },
    crossRegionReferences: true,
    terminationProtection: profile.isProtected,
  });
  return new Firewall(stack, 'Firewall', { ...settings, limits: profile.firewall });
}

const version = (): string => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

interface ReelayStackProps extends StackProps {
  readonly deployment: Deployment;
  /** ARN of a firewall in another stack; otherwise this stack creates it and must be in us-east-1. */
  readonly firewall?: string;
}

/** The service of one stage in a stack of its own. */
class ReelayStack extends Stack {
  constructor(scope: Construct, id: string, { deployment, firewall, ...props }: ReelayStackProps) {
    super(scope, id, { ...props, terminationProtection: deployment.profile.isProtected });
    const { settings, bundleDir } = deployment;
    // CDK leaves the id `Default` out of logical ids, which thereby stay those of stacks that are deployed already.
    new Reelay(this, 'Default', { ...settings, bundleDir, firewall });
    useStackLogGroups(this, settings.logDays);
  }

  /** The first two zones by index: a look-up of their names would need credentials at synthesis. */
  override get availabilityZones(): string[] {
    return [Fn.select(0, Fn.getAzs()), Fn.select(1, Fn.getAzs())];
  }
}
