import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ContextSettings, readContextSettings, SettingError } from '../core/config/index.ts';

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
export function checkTarget(
  settings: DeploymentSettings,
  env: { readonly account?: string; readonly region?: string },
) {
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

/** Rejects settings that are valid each but not in combination. */
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

/** By region and profile, the resource types of CloudFormation that the deployment has and the region lacks. */
export type RegionTable = Readonly<Record<string, Readonly<Record<ProfileName, readonly string[]>>>>;

/** Written by `npm run dev -- docs`. */
const regions: RegionTable = JSON.parse(readFileSync(join(import.meta.dirname, 'regions.json'), 'utf8'));

/** Left out where a region lacks it: a budget only sends warnings. */
const OPTIONAL = 'AWS::Budgets::Budget';
/** Names of resource types in messages, by the beginning of the type. */
const PART_NAMES = { 'AWS::Lambda::Url': 'function URLs' };
/**
 * Regions that VPC origins do not reach, which CloudFormation's types do not tell: not on the list under “Supported AWS Regions”
 * of “Restrict access with VPC origins” (CloudFront Developer Guide, 2026-11-26).
 */
const WITHOUT_VPC_ORIGINS: readonly string[] = ['ap-southeast-6'];
const OTHER_PARTITIONS = /^(cn|us-gov|us-iso\w*|eu-iso\w*|eusc)-/;

/** Whether a region has budgets. True for one that is not known. */
export const hasBudgets = (region: string): boolean => !regions[region]?.team.includes(OPTIONAL);

/** What a deployment needs and a region lacks. Empty for a region that is not known. */
export function partsLackedBy(region: string, kind: ProfileName, table = regions): string[] {
  const types = table[region]?.[kind].filter((type) => type !== OPTIONAL) ?? [];
  const nameOf = (type: string) => Object.entries(PART_NAMES).find(([start]) => type.startsWith(start))?.[1] ?? type;
  const lacksOrigins = kind !== 'hobby' && WITHOUT_VPC_ORIGINS.includes(region);
  return [...new Set(types.map(nameOf)), ...(lacksOrigins ? ['VPC origins of CloudFront'] : [])];
}

/** What each profile lacks in each region, for `npm run dev -- docs regions`. */
export function renderRegions(): string {
  const cellsOf = (region: string) => [
    ...(['hobby', 'team', 'public'] as const).map(
      (kind) =>
        `${kind}: ${
          partsLackedBy(region, kind)
            .map((part) => `no ${part}`)
            .join(', ') || 'yes'
        }`,
    ),
    `budget: ${hasBudgets(region) ? 'yes' : 'no, create one by hand'}`,
  ];
  const groups = Map.groupBy(Object.keys(regions), (region) => cellsOf(region).join('\n  '));
  return [...groups].map(([cells, names]) => `${names.join(' ')}\n  ${cells}`).join('\n');
}

/** @throws SettingError that names what the deployment needs and the region lacks, and what can be deployed there */
function checkRegion({ profile }: { readonly profile: ProfileName }, region: string): void {
  if (OTHER_PARTITIONS.test(region))
    throw new SettingError(`${region} is not supported: its partition has no edge functions of CloudFront`);
  const lacking = partsLackedBy(region, profile);
  if (lacking.length === 0) return;
  const possible = (['hobby', 'team', 'public'] as const)
    .filter((kind) => partsLackedBy(region, kind).length === 0)
    .map((kind) => `profile=${kind}`);
  const advice = [...possible.map((kind) => `${kind} there`), 'this one to another region'].join(', or ');
  throw new SettingError(`${region} has no ${lacking.join(' and no ')}, which this deployment needs: deploy ${advice}`);
}
