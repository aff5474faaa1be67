import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SettingError } from '../../core/config/index.ts';

/** What differs by region. */
export type DeploymentKind = 'hobby' | 'team' | 'public';

/** By region and profile, the resource types of CloudFormation that the deployment has and the region lacks. */
export type RegionTable = Readonly<Record<string, Readonly<Record<DeploymentKind, readonly string[]>>>>;

/** Written by `npm run dev -- docs`. */
const regions: RegionTable = JSON.parse(readFileSync(join(import.meta.dirname, 'regions.json'), 'utf8'));

/** A budget only warns, and is of the whole account: a deployment without one is complete. */
const OPTIONAL = 'AWS::Budgets::Budget';
/** As the documentation calls them, by the beginning of their types. */
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
export function partsLackedBy(region: string, kind: DeploymentKind, table = regions): string[] {
  const types = table[region]?.[kind].filter((type) => type !== OPTIONAL) ?? [];
  const nameOf = (type: string) => Object.entries(PART_NAMES).find(([start]) => type.startsWith(start))?.[1] ?? type;
  const lacksOrigins = kind !== 'hobby' && WITHOUT_VPC_ORIGINS.includes(region);
  return [...new Set(types.map(nameOf)), ...(lacksOrigins ? ['VPC origins of CloudFront'] : [])];
}

/** @throws SettingError that names what the deployment needs and the region lacks, and what can be deployed there */
export function checkRegion({ profile }: { readonly profile: DeploymentKind }, region: string): void {
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
