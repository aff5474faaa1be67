import { CfnOutput, CfnRule, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import { KeyValueStore } from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';
import type { Deployment } from './config/index.ts';
import { Api } from './constructs/api/index.ts';
import { AccessKeys, EdgeDistribution, Firewall, OriginSecret, Page } from './constructs/edge/index.ts';
import { Monitoring } from './constructs/monitoring/index.ts';
import { regionalName, StateTable, useStackLogGroups } from './constructs/shared/index.ts';
import {
  BALANCED_TRUSTED_PROXIES,
  BalancedStreamHost,
  ON_DEMAND_TRUSTED_PROXIES,
  OnDemandStreamHost,
  type StreamDependencies,
  StreamNetwork,
  StreamTask,
  WebFunctionStreamHost,
} from './constructs/stream-host/index.ts';
import { Tools, ToolUpdates } from './constructs/tools/index.ts';

export interface ReelayStackProps extends StackProps {
  readonly deployment: Deployment;
  /** ARN of a firewall in another stack; otherwise this stack creates it and must be in us-east-1. */
  readonly firewall?: string;
}

/**
 * The whole service of one stage behind one base URL: state table, tools layer, stream host, HTTP API, page, CloudFront
 * distribution and monitoring.
 */
export class ReelayStack extends Stack {
  constructor(scope: Construct, id: string, { deployment, firewall, ...props }: ReelayStackProps) {
    super(scope, id, { ...props, terminationProtection: deployment.profile.isProtected });
    const { settings, profile } = deployment;
    const table = new StateTable(this, 'Table', { ...profile, isRetained: settings.retainTable });
    const originSecret = new OriginSecret(this, 'OriginSecret', { deployment, table });
    const tools = new Tools(this, 'Tools', { deployment, table, secretRevision: originSecret.revision });

    const fargate = profile.streamHost === 'web-function' ? undefined : this.#createTask({ deployment, table, tools });
    const isOnDemand = profile.streamHost === 'on-demand';
    const { accessKeysSecret } = settings;
    // A function has one store at most.
    const keyValueStore =
      isOnDemand || accessKeysSecret
        ? new KeyValueStore(this, isOnDemand ? 'TaskAddress' : 'AccessKeyStore', {
            keyValueStoreName: regionalName(this, isOnDemand ? 'task-address' : 'access-keys'),
          })
        : undefined;
    const accessKeys =
      accessKeysSecret && keyValueStore
        ? new AccessKeys(this, 'AccessKeys', { deployment, keyValueStore, secretArn: accessKeysSecret })
        : undefined;
    const onDemand =
      isOnDemand && fargate && keyValueStore
        ? new OnDemandStreamHost(this, 'Streams', { deployment, ...fargate, table, keyValueStore })
        : undefined;
    const api = new Api(this, 'Api', {
      deployment,
      table,
      tools,
      originSecrets: originSecret.accepted,
      ...(onDemand && { wake: onDemand.wake }),
    });
    const balanced =
      profile.streamHost === 'balanced' && fargate
        ? new BalancedStreamHost(this, 'Streams', { deployment, ...fargate, toolsInstalled: api.toolsInstalled })
        : undefined;
    const webFunction = fargate
      ? undefined
      : new WebFunctionStreamHost(this, 'StreamFunction', { deployment, table, tools });
    const host = balanced ?? onDemand ?? webFunction;
    if (!host) throw new Error('A profile has one stream host');
    const updates = new ToolUpdates(this, 'ToolUpdates', {
      tools,
      resolver: api.resolver,
      toolsInstalled: api.toolsInstalled,
      intervalHours: settings.toolsUpdateHours,
    });
    const page = new Page(this, 'Page', deployment);
    const wall = profile.firewall && (firewall ?? this.#firewallHere(profile.firewall));
    const edge = new EdgeDistribution(this, 'Edge', {
      deployment,
      apiHost: api.host,
      originSecret: originSecret.sent,
      secretAccepted: api.accessControl,
      streamOrigin: host.origin,
      streamsReady: host.ready,
      page: page.bucket,
      ...(keyValueStore && { keyValueStore }),
      ...(accessKeys && { keysApplied: accessKeys.applied }),
      ...(wall && { firewall: wall }),
    });
    new Monitoring(this, 'Monitoring', {
      deployment,
      table,
      api,
      updates,
      edge,
      functions: [
        ...api.functions,
        ...(onDemand ? onDemand.functions : []),
        ...(accessKeys ? [accessKeys.function] : []),
      ],
      // The alarm on errors of the API covers the resolver too; the first ten alarms of an account are free.
      criticalFunctions: onDemand ? [onDemand.wake, onDemand.register] : [api.resolver],
      ...(balanced && { balanced }),
      ...(webFunction && { webFunction }),
    });
    useStackLogGroups(this, settings.logDays);
    new CfnOutput(this, 'BaseUrl', { description: 'Base URL of the service', value: edge.baseUrl });
    // Read by infra/cli, which refuses to change them unless they are named.
    new CfnOutput(this, 'Profile', { description: 'The profile of this deployment', value: settings.profile });
    new CfnOutput(this, 'StreamHost', {
      description: 'What streams: fargate, or lambda with -c streamHost=lambda',
      value: settings.streamHost,
    });
    if (settings.retainTable)
      new CfnOutput(this, 'RetainedTable', { description: 'Stays when the stack is deleted', value: table.tableName });
    new CfnOutput(this, 'EdgeDomain', {
      description: 'Target of the DNS record of your own domain',
      value: edge.distribution.distributionDomainName,
    });
  }

  /** Network and task definition of the hosts on Fargate. */
  #createTask(dependencies: StreamDependencies): { readonly network: StreamNetwork; readonly task: StreamTask } {
    const { settings, profile } = dependencies.deployment;
    const isBalanced = profile.streamHost === 'balanced';
    const network = new StreamNetwork(this, 'Network', {
      withBalancerSubnets: isBalanced,
      logDays: settings.logDays,
      ...(settings.zones && { zones: settings.zones }),
    });
    const task = new StreamTask(this, 'Task', {
      ...dependencies,
      network,
      trustedProxies: isBalanced ? BALANCED_TRUSTED_PROXIES : ON_DEMAND_TRUSTED_PROXIES,
      idleMinutes: isBalanced ? 0 : settings.idleMinutes,
    });
    return { network, task };
  }

  /** The first two zones by index: by name they would need a look-up, and so credentials at synthesis. */
  override get availabilityZones(): string[] {
    return [Fn.select(0, Fn.getAzs()), Fn.select(1, Fn.getAzs())];
  }

  #firewallHere(limits: Readonly<{ resolves: number; streams: number }>): string {
    new CfnRule(this, 'FirewallRegion', {
      assertions: [
        {
          assert: Fn.conditionEquals(this.region, 'us-east-1'),
          assertDescription:
            'Without a region at synthesis the firewall is in this stack, which then must be in us-east-1',
        },
      ],
    });
    return new Firewall(this, 'Firewall', { limits }).attrArn;
  }
}
