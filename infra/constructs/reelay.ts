import { CfnOutput, CfnResource, CfnRule, Fn, Stack, Token } from 'aws-cdk-lib';
import { KeyValueStore } from 'aws-cdk-lib/aws-cloudfront';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IVpc } from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { SettingError } from '../../core/config/index.ts';
import { type Deployment, profileOf } from '../profiles.ts';
import { CLOUDFRONT_REGION, checkTarget, type DeploymentSettings, readContext } from '../settings.ts';
import { Api } from './api.ts';
import { BalancedStreamHost } from './balanced-stream-host.ts';
import { regionalName, suppressWildcards } from './conventions.ts';
import { AccessKeys, EdgeDistribution, Firewall, type FirewallProps, OriginSecret, Page } from './edge/index.ts';
import { Monitoring } from './monitoring.ts';
import { OnDemandStreamHost } from './on-demand-stream-host.ts';
import { checkTable, StateTable } from './state-table.ts';
import { StreamNetwork } from './stream-network.ts';
import { StreamTask } from './stream-task.ts';
import { Tools, ToolUpdates } from './tools.ts';

/** The settings of a deployment (`npm run dev -- docs settings`), each with its default, and where its code is. */
export interface ReelayProps extends Partial<DeploymentSettings> {
  /** Folder of the bundles, which `bundle` writes, and of the page in `web`. */
  readonly bundleDir: string;
  /** ARN of a web ACL in us-east-1. @default `public` creates one, and its stack must then be in us-east-1 */
  readonly firewall?: string | undefined;
  /**
   * Where stream tasks and their load balancer are: with public subnets and, unless `hobby`, private or isolated ones in two
   * zones that support VPC origins. Endpoints for S3 and DynamoDB are yours to add.
   * @default a network of its own
   */
  readonly vpc?: IVpc;
  /**
   * Where the state is, of this service alone: partition key `pk` (a string), no sort key, TTL on `expiresAt`, encrypted by a key of
   * DynamoDB or AWS.
   * @default a table of its own
   */
  readonly table?: ITable;
}

/**
 * CloudFront rejects updates of a VPC origin that is in use, tag changes included. A tagged CloudFront function fails its
 * creation in some accounts with 409 (CloudFormation coverage roadmap, 2508).
 */
const UNTAGGED_TYPES = ['AWS::CloudFront::VpcOrigin', 'AWS::CloudFront::Function'];

/**
 * The whole service behind one base URL: state table, tools layer, stream host, HTTP API, page, CloudFront distribution and
 * monitoring. It reads neither CDK context nor the environment, so that any stack can contain it, once.
 * @throws SettingError when a setting is invalid; one line that names it
 */
export class Reelay extends Construct {
  /** Where the service answers. */
  readonly baseUrl: string;
  readonly table: ITable;

  constructor(scope: Construct, id: string, { bundleDir, firewall, vpc, table: givenTable, ...given }: ReelayProps) {
    super(scope, id);
    const settings = readContext(given);
    const { account, region } = Stack.of(this);
    const known = (value: string) => (Token.isUnresolved(value) ? '' : value);
    checkTarget(settings, { account: known(account), region: known(region) });
    const profile = profileOf(settings);
    const deployment: Deployment = { settings, profile, bundleDir };
    checkGiven(settings, givenTable);
    const table = givenTable ?? new StateTable(this, 'Table', { ...profile, isRetained: settings.retainTable });
    this.table = table;
    const originSecret = new OriginSecret(this, 'OriginSecret', { deployment, table });
    const tools = new Tools(this, 'Tools', { deployment, table });

    const isOnDemand = profile.streamHost === 'on-demand';
    const network = new StreamNetwork(this, 'Network', { withBalancerSubnets: !isOnDemand, ...settings, vpc });
    const task = new StreamTask(this, 'Task', { deployment, table, tools, network });
    const { accessKeysSecret } = settings;
    // One store for all, since a CloudFront function can read only one: also for the flag of the cost guard.
    const keyValueStore = new KeyValueStore(this, isOnDemand ? 'TaskAddress' : 'EdgeStore', {
      keyValueStoreName: regionalName(this, isOnDemand ? 'task-address' : 'edge-store'),
    });
    const accessKeys = accessKeysSecret
      ? new AccessKeys(this, 'AccessKeys', { deployment, keyValueStore, secretArn: accessKeysSecret })
      : undefined;
    const onDemand = isOnDemand
      ? new OnDemandStreamHost(this, 'Streams', { deployment, network, task, table, keyValueStore })
      : undefined;
    const api = new Api(this, 'Api', {
      deployment,
      table,
      tools,
      ...(onDemand && { wake: onDemand.wake }),
    });
    const host =
      onDemand ??
      new BalancedStreamHost(this, 'Streams', { deployment, network, task, toolsInstalled: api.toolsInstalled });
    const updates = new ToolUpdates(this, 'ToolUpdates', {
      tools,
      resolver: api.resolver,
      toolsInstalled: api.toolsInstalled,
      intervalHours: settings.toolsUpdateHours,
    });
    const page = new Page(this, 'Page', deployment);
    const wall = profile.firewall && (firewall ?? this.#firewallHere({ ...settings, limits: profile.firewall }));
    const edge = new EdgeDistribution(this, 'Edge', {
      deployment,
      apiHost: api.host,
      originSecret: originSecret.sent,
      streamOrigin: host.origin,
      streamsReady: host.ready,
      page: page.bucket,
      keyValueStore,
      ...(accessKeys && { keysApplied: accessKeys.applied }),
      ...(wall && { firewall: wall }),
    });
    this.baseUrl = edge.baseUrl;
    new Monitoring(this, 'Monitoring', {
      deployment,
      table,
      api,
      updates,
      edge,
      keyValueStore,
      accessKeys,
      ...(host instanceof BalancedStreamHost ? { balanced: host } : { onDemand: host }),
    });
    new CfnOutput(this, 'BaseUrl', { description: 'Base URL of the service', value: edge.baseUrl });
    // Read by infra/cli, which refuses to change the profile unless a flag names it.
    new CfnOutput(this, 'Profile', { description: 'The profile of this deployment', value: settings.profile });
    if (settings.retainTable)
      new CfnOutput(this, 'RetainedTable', { description: 'Stays when the stack is deleted', value: table.tableName });
    new CfnOutput(this, 'EdgeDomain', {
      description: 'Target of the DNS record of your own domain',
      value: edge.distribution.distributionDomainName,
    });
    // Tags are set by the app, by the stack, or by an app that contains this construct.
    for (const resource of this.node.findAll().filter(CfnResource.isCfnResource))
      if (UNTAGGED_TYPES.includes(resource.cfnResourceType)) resource.addPropertyDeletionOverride('Tags');
    suppressWildcards(this);
  }

  #firewallHere({ limits, corsAllowedOrigins }: FirewallProps): string {
    new CfnRule(this, 'FirewallRegion', {
      assertions: [
        {
          assert: Fn.conditionEquals(Stack.of(this).region, CLOUDFRONT_REGION),
          assertDescription:
            'Without a region at synthesis the firewall is in this stack, which then must be in us-east-1',
        },
      ],
    });
    return new Firewall(this, 'Firewall', { limits, corsAllowedOrigins }).attrArn;
  }
}

/** @throws SettingError for a table of another stack that contradicts the settings, or that the service cannot use */
function checkGiven({ retainTable }: DeploymentSettings, table: ITable | undefined) {
  if (!table) return;
  if (retainTable)
    throw new SettingError('retainTable is for a table of its own: the given table has its removal policy');
  checkTable(table);
}
