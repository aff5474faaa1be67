import { createRequire } from 'node:module';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { ProfileName, RegionTable } from '../../infra/settings.ts';
import { PROFILE_NAMES } from './deployments.ts';
import type { Template } from './permissions.ts';

/** Of a type that the region does not have. */
const MISSING_TYPE = 'F3006';
/** A type of us-east-1 alone: the validator misses it in every other region that it knows. */
const PROBE = 'AWS::BillingConductor::BillingGroup';
interface Diagnostic {
  readonly ruleId: string;
  readonly message: string;
  readonly entity?: { readonly resourceType?: string };
}
interface Validator {
  readonly TemplateContent: new (text: string, name: string) => object;
  readonly CompositeEngine: new (
    config: object,
  ) => {
    validateTemplate(template: object, options: object): { readonly diagnostics: readonly Diagnostic[] };
    free(): void;
  };
}

/** The validator that CDK runs at synthesis, which knows the types of each region: it is inside of CDK's package. */
const loadValidator = (): Validator =>
  createRequire(createRequire(import.meta.url).resolve('aws-cdk-lib/package.json'))('@aws/cloudformation-validate');

/** What each region of the partition `aws` lacks for each template. */
export function findMissingTypes(templates: Readonly<Record<ProfileName, Template>>): RegionTable {
  const { CompositeEngine, TemplateContent } = loadValidator();
  const engine = new CompositeEngine({});
  const missing = (types: Iterable<string>, region: string): string[] => {
    const resources = [...types].map((Type, index) => [`R${index}`, { Type }]);
    const template = new TemplateContent(JSON.stringify({ Resources: Object.fromEntries(resources) }), 'types.json');
    const options = { pseudoParameterOverrides: { region }, severityLevel: 'WARN' };
    const found = engine
      .validateTemplate(template, options)
      .diagnostics.filter(({ ruleId }) => ruleId === MISSING_TYPE);
    return found.map(({ entity, message }) => entity?.resourceType ?? message).sort();
  };
  // A deployment that tells nobody has no budget.
  const typesOf = (kind: ProfileName) =>
    new Set([
      'AWS::Budgets::Budget',
      ...Object.values(templates[kind].Resources).flatMap(({ Type }) => (Type.startsWith('AWS::') ? [Type] : [])),
    ]);
  const isKnown = (region: string) => region === 'us-east-1' || missing([PROBE], region).length > 0;
  try {
    const regions = RegionInfo.regions.filter(({ partition, name }) => partition === 'aws' && isKnown(name));
    const rowOf = (region: string) => PROFILE_NAMES.map((kind) => [kind, missing(typesOf(kind), region)]);
    return Object.fromEntries(regions.map(({ name }) => [name, Object.fromEntries(rowOf(name))]));
  } finally {
    engine.free();
  }
}

/** `infra/regions.json`, a region per line. */
export const renderRegionTable = (table: RegionTable): string =>
  `{\n${Object.entries(table)
    .map(([region, row]) => `  ${JSON.stringify(region)}: ${JSON.stringify(row)}`)
    .join(',\n')}\n}\n`;
