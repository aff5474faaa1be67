import { join } from 'node:path';
import { App, Stack, Tags } from 'aws-cdk-lib';
import { AttributeType, type ITable, TableEncryptionV2, type TablePropsV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { type SubnetConfiguration, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { expect, it } from 'vitest';
import { SettingError } from '../../core/config/index.ts';
import { writePlaceholders } from '../../infra/build/placeholders.ts';
import { Reelay, type ReelayProps } from '../../infra/constructs/reelay.ts';
import { createApp } from '../../infra/create-app.ts';
import { itemsByRole, resourcesByRole, type Template } from './permissions.ts';
import { expectedItems } from './roles.ts';
import { flags, temporaryFolder } from './synth.ts';
import { propertiesOf, resourcesOfType } from './template.ts';

it('is a construct of any stack, which reads no settings of the context', () => {
  const folder = temporaryFolder();
  const context = { ...flags, profile: 'public', stage: 'of-another-app', 'min-tasks': 3 };
  const app = new App({ context, outdir: join(folder, 'out') });
  const bundleDir = writePlaceholders(join(folder, 'bundle'));
  new Reelay(new Stack(app, 'Site'), 'Media', { profile: 'hobby', stage: 'media', idleMinutes: 5, bundleDir });
  const { template } = app.synth().getStackByName('Site') as { template: Template };
  const [distribution, ...others] = resourcesOfType(template, 'AWS::CloudFront::Distribution');
  expect(others).toEqual([]);
  expect(distribution?.id).toMatch(/^MediaEdgeDistribution/);
  expect(distribution?.properties.DistributionConfig).toMatchObject({ Comment: 'Reelay media' });
  expect(resourcesOfType(template, 'AWS::ElasticLoadBalancingV2::LoadBalancer')).toEqual([]);
});

it('refuses settings as a deployment does', () => {
  const app = createApp({ bundleDir: writePlaceholders(temporaryFolder()), context: flags, outdir: temporaryFolder() });
  const create = () =>
    new Reelay(app.node.findChild('reelay-main') as never, 'Other', {
      minTasks: 9,
      maxTasks: 2,
      bundleDir: '/nowhere',
    });
  expect(create).toThrow(/^minTasks must be at most maxTasks/);
});

it('refuses settings that exceed what a function may have as its environment', () => {
  const corsAllowedOrigins = Array.from(
    { length: 90 },
    (_, index) => `https://page-${index}.of-some-longer-site.example`,
  );
  expect(() => createInApp({ corsAllowedOrigins })).toThrow(
    /^corsAllowedOrigins makes the environment of the function [\w-]+ \d+ bytes too large for Lambda \(4,096\): shorten it$/,
  );
});

it('refuses a stack whose name is too long for names of CloudFront, which have 64 characters', () => {
  const create = (name: string) => {
    const app = new App({ context: flags, outdir: temporaryFolder() });
    const bundleDir = writePlaceholders(temporaryFolder());
    return new Reelay(new Stack(app, 'Site', { stackName: name }), 'Media', { bundleDir });
  };
  // The region, and its longest suffix.
  const longest = 'a'.repeat(64 - '-ap-southeast-2-page-headers'.length);
  expect(create(longest).baseUrl).toMatch(/^https:/);
  expect(() => create(`${longest}b`)).toThrow(
    new SettingError(`The name of the stack ${longest}b is too long: CloudFront has 64 characters`),
  );
});

const STATE: TablePropsV2 = {
  partitionKey: { name: 'pk', type: AttributeType.STRING },
  timeToLiveAttribute: 'expiresAt',
};
const BOTH_SUBNETS = [
  { name: 'open', subnetType: SubnetType.PUBLIC },
  { name: 'closed', subnetType: SubnetType.PRIVATE_ISOLATED },
];

interface GivenParts extends Omit<Partial<ReelayProps>, 'table'> {
  readonly table?: TablePropsV2;
  readonly subnets?: SubnetConfiguration[];
  readonly encryptionKey?: boolean;
  readonly enableDnsHostnames?: boolean;
}

/** An app whose stack `Site` has the service in what another stack has. */
function createInApp({ table = STATE, subnets = BOTH_SUBNETS, encryptionKey = false, ...given }: GivenParts) {
  const { enableDnsHostnames = true, ...props } = given;
  const dns = { enableDnsHostnames, enableDnsSupport: true };
  const app = new App({ context: flags, outdir: temporaryFolder() });
  const shared = new Stack(app, 'Shared');
  const vpc = new Vpc(shared, 'Vpc', { maxAzs: 2, natGateways: 0, subnetConfiguration: subnets, ...dns });
  const encryption = encryptionKey && { encryption: TableEncryptionV2.customerManagedKey(new Key(shared, 'Key')) };
  const state: ITable = new TableV2(shared, 'State', { ...table, ...encryption });
  const bundleDir = writePlaceholders(temporaryFolder());
  new Reelay(new Stack(app, 'Site'), 'Media', { bundleDir, vpc, table: state, ...props });
  return app;
}

it.each(['hobby', 'team'] as const)('%s uses the network and the table of another stack, and makes none', (profile) => {
  const tagged = createInApp({ profile });
  Tags.of(tagged).add('CostCenter', 'media');
  const assembly = tagged.synth();
  const template = assembly.getStackByName('Site').template as Template;
  for (const type of ['AWS::DynamoDB::GlobalTable', 'AWS::EC2::VPC', 'AWS::EC2::Subnet', 'AWS::EC2::VPCEndpoint'])
    expect(resourcesOfType(template, type)).toEqual([]);
  for (const properties of propertiesOf(template, 'AWS::EC2::SecurityGroup'))
    expect(JSON.stringify(properties.VpcId)).toContain('OutputRefVpc');
  // CloudFront refuses changes of their tags.
  for (const type of ['AWS::CloudFront::VpcOrigin', 'AWS::CloudFront::Function'])
    for (const properties of propertiesOf(template, type)) expect(properties).not.toHaveProperty('Tags');
  expect(JSON.stringify(resourcesOfType(template, 'AWS::CloudFront::Distribution'))).toContain('CostCenter');
  const items = itemsByRole(template);
  const expected = Object.entries(expectedItems(profile)).map(([role, rights]) => [`Media${role}`, rights]);
  expect(items).toMatchObject(Object.fromEntries(expected));
  const granted = Object.values(resourcesByRole(template, 'dynamodb:GetItem')).flat();
  for (const resource of granted) expect(JSON.stringify(resource)).toContain('OutputFnGetAttState');
  for (const properties of propertiesOf(template, 'AWS::ElasticLoadBalancingV2::LoadBalancer'))
    expect(JSON.stringify(properties.Subnets)).toMatch(/^\[.*closedSubnet1.*closedSubnet2.*\]$/);
});

it.each<[string, GivenParts, RegExp]>([
  [
    'another key',
    { table: { ...STATE, partitionKey: { name: 'id', type: AttributeType.STRING } } },
    /^table must have/,
  ],
  ['a sort key', { table: { ...STATE, sortKey: { name: 'sk', type: AttributeType.STRING } } }, /^table must have/],
  ['no time to live', { table: { partitionKey: STATE.partitionKey } }, /^table must have .* time to live$/],
  ['a key of KMS', { encryptionKey: true }, /^table must be encrypted/],
  ['retainTable', { retainTable: true }, /^retainTable is for a table of its own/],
  ['zones', { zones: ['euw1-az1', 'euw1-az2'] }, /^zones is for a network of its own/],
  ['no public subnets', { subnets: BOTH_SUBNETS.slice(1) }, /^vpc must have public subnets/],
  ['no DNS host names', { profile: 'hobby', enableDnsHostnames: false }, /^vpc must have DNS host names/],
  ['no place for the balancer', { subnets: BOTH_SUBNETS.slice(0, 1) }, /^vpc must have private or isolated subnets/],
])('refuses a network or table with %s', (_, options, message) => {
  expect(() => createInApp(options)).toThrow(message);
});
