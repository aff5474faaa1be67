import { type ContextSettings, readContextSettings, SettingError } from '../../core/config/index.ts';
import { checkRegion } from './regions.ts';

/** The settings of one deployment: CDK context (`-c name=value`, or `context` in cdk.json), read once and validated. */
export type DeploymentSettings = ContextSettings;

export type ProfileName = DeploymentSettings['profile'];

/** The only region that has web ACLs and metrics of CloudFront. */
export const CLOUDFRONT_REGION = 'us-east-1';

export const stackNameOf = ({ stage }: DeploymentSettings): string => `reelay-${stage}`;

/** The stack of the firewall, where that of the service is in another region. */
export const firewallStackNameOf = (settings: DeploymentSettings, region: string): string =>
  `${stackNameOf(settings)}-edge-${region}`;

/**
 * Reads the settings from CDK context.
 * @throws SettingError in one line that names the setting
 */
export function readContext(context: Readonly<Record<string, unknown>>): DeploymentSettings {
  const settings = readContextSettings(context);
  checkCombinations(settings);
  const { domain, publicUrl = domain && `https://${domain}` } = settings;
  return { ...settings, publicUrl };
}

/** Region and account of an ARN: `arn:partition:service:region:account:…` */
const parseArn = (arn: string | undefined) => ({ region: arn?.split(':')[3], account: arn?.split(':')[4] });

/**
 * Rejects a region that lacks what the deployment needs, and ARNs of another region or account than the stack's, which would
 * otherwise fail at the first start or at the end of a deployment.
 * @throws SettingError in one line that names the setting
 */
export function checkPlace(settings: DeploymentSettings, env: { readonly account?: string; readonly region?: string }) {
  if (env.region) checkRegion(settings, env.region);
  for (const name of ['accessKeysSecret', 'outgoingProxiesSecret', 'cookiesSecret'] as const) {
    const { region } = parseArn(settings[name]);
    if (region && env.region && region !== env.region)
      throw new SettingError(`${name} must be a secret in ${env.region}, where the stack is, not in ${region}`);
  }
  const { pluginsLayerArn } = settings;
  const { region: layerRegion } = parseArn(pluginsLayerArn);
  if (layerRegion && env.region && layerRegion !== env.region)
    throw new SettingError(
      `pluginsLayerArn must be a layer in ${env.region}, where the stack is, not in ${layerRegion}`,
    );
  const { account } = parseArn(settings.certificateArn);
  if (account && env.account && account !== env.account)
    throw new SettingError(`certificateArn must be a certificate of the account ${env.account}, not of ${account}`);
}

/** Rejects values that are valid alone and not together. */
function checkCombinations(settings: DeploymentSettings): void {
  const { domain, certificateArn, taskCpu, taskMemory, minTasks, maxTasks, profile } = settings;
  if (domain && !certificateArn) throw new SettingError('domain needs certificateArn, a certificate in us-east-1');
  if (settings.hostedZone && !domain) throw new SettingError('hostedZone needs domain, the name of its records');
  if (certificateArn && !domain) throw new SettingError('certificateArn needs domain, the name it is for');
  checkTaskSize(taskCpu, taskMemory);
  const { resolverProvisioned, resolverConcurrency } = settings;
  if (profile === 'hobby' && resolverProvisioned > 0)
    throw new SettingError('resolverProvisioned is for team and public: hobby costs nothing while it is idle');
  if (resolverConcurrency !== undefined && resolverProvisioned > resolverConcurrency)
    throw new SettingError(`resolverProvisioned must be at most resolverConcurrency (${resolverConcurrency})`);
  if (profile === 'hobby' && (minTasks ?? maxTasks) !== undefined) {
    throw new SettingError(`${minTasks ? 'minTasks' : 'maxTasks'} is for team and public: hobby runs one task at most`);
  }
}

const steps = (min: number, max: number, step: number): number[] =>
  Array.from({ length: (max - min) / step + 1 }, (_, index) => min + index * step);

/** Memory that Fargate offers by CPU units, in MiB. */
const TASK_MEMORY: Readonly<Record<number, readonly number[]>> = {
  256: [512, 1024, 2048],
  512: steps(1024, 4096, 1024),
  1024: steps(2048, 8192, 1024),
  2048: steps(4096, 16_384, 1024),
  4096: steps(8192, 30_720, 1024),
  8192: steps(16_384, 61_440, 4096),
  16384: steps(32_768, 122_880, 8192),
};

function checkTaskSize(cpu: number | undefined, memory: number | undefined): void {
  if (cpu === undefined && memory === undefined) return;
  if (cpu === undefined) throw new SettingError('taskMemory needs taskCpu');
  if (memory === undefined) throw new SettingError('taskCpu needs taskMemory');
  const offered = TASK_MEMORY[cpu];
  if (!offered?.includes(memory))
    throw new SettingError(`taskMemory must be one of ${offered?.join(', ')} with taskCpu ${cpu}`);
}
