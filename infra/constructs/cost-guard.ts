import { ArnFormat, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { KeyValueStore } from 'aws-cdk-lib/aws-cloudfront';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Policy, type PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { WatchedMetric } from '../../core/spending/index.ts';
import type { Deployment } from '../profiles.ts';
import { type SpendingPlan, spendingPlan, UNSEEN_MINUTES, unitPrices } from '../spending-plan.ts';
import type { Api } from './api.ts';
import type { BalancedStreamHost } from './balanced-stream-host.ts';
import { allow, allowItems, allowKeys } from './conventions.ts';
import type { AccessKeys, EdgeDistribution } from './edge/index.ts';
import type { OnDemandStreamHost } from './on-demand-stream-host.ts';
import { ServiceFunction } from './service-function.ts';
import type { ToolUpdates } from './tools.ts';

/** What the dashboard, the alarms, the cost guard and the budget observe. */
export interface MonitoringProps {
  readonly deployment: Deployment;
  readonly table: ITable;
  readonly api: Api;
  readonly updates: ToolUpdates;
  readonly edge: EdgeDistribution;
  /** The store that the edge function reads. */
  readonly keyValueStore: KeyValueStore;
  /** Present in private instances. */
  readonly accessKeys?: AccessKeys | undefined;
  /** Present in profiles without a load balancer. */
  readonly onDemand?: OnDemandStreamHost;
  /** Present in profiles with a load balancer. */
  readonly balanced?: BalancedStreamHost;
}

export const GUARD_INTERVAL = Duration.minutes(1);

interface CostGuardProps extends MonitoringProps {
  /** Sends mails. */
  readonly topic?: ITopic | undefined;
}

/**
 * A function that compares spending with the caps each minute. Over a cap it closes the edge and the resolver until the period
 * ends. While nobody uses the service it reads two metrics, which are among the million calls that each account has free.
 */
export class CostGuard extends Construct {
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, props: CostGuardProps) {
    super(scope, id);
    const { deployment, table, api, edge, onDemand, keyValueStore, topic } = props;
    const { settings, profile } = deployment;
    const plan = spendingPlan(settings, profile);
    const { resolver } = api;
    this.function = new ServiceFunction(this, 'Function', {
      deployment,
      name: 'cost-guard',
      timeout: Duration.seconds(50),
      environment: {
        TABLE_NAME: table.tableName,
        KEY_VALUE_STORE_ARN: keyValueStore.keyValueStoreArn,
        RESOLVER_FUNCTION: resolver.functionName,
        API_ID: api.httpApi.apiId,
        DISTRIBUTION_ID: edge.distribution.distributionId,
        RESOLVER_LIMIT: String(profile.resolverLimit),
        SPENDING_PLAN: Stack.of(this).toJsonString({
          ...plan,
          metrics: watchedMetrics(props, plan),
          rates: {
            all: { throttlingRateLimit: profile.apiRate, throttlingBurstLimit: profile.apiBurst },
            resolves: { throttlingRateLimit: profile.resolveRate, throttlingBurstLimit: profile.resolveBurst },
          },
        }),
        ...(onDemand && { ...onDemand.control.environment, WAKE_FUNCTION: onDemand.wake.functionName }),
        ...(topic && { ALARM_TOPIC: topic.topicArn }),
      },
      permissions: [
        ...allow(['cloudwatch:GetMetricStatistics'], '*'),
        ...allow(
          ['apigateway:GET', 'apigateway:PATCH'],
          Stack.of(this).formatArn({
            service: 'apigateway',
            account: '',
            resource: `/apis/${api.httpApi.apiId}/stages/$default`,
            arnFormat: ArnFormat.NO_RESOURCE_NAME,
          }),
        ),
        ...limitConcurrency(resolver),
        ...limitConcurrency(onDemand?.wake),
        ...(onDemand?.control.permissions ?? []),
        // It reads where the host is.
        ...allowKeys(keyValueStore.keyValueStoreArn, ...(onDemand ? ['GetKey'] : []), 'PutKey', 'DeleteKey'),
        ...allow(
          ['cloudfront:GetDistributionConfig', 'cloudfront:UpdateDistribution'],
          edge.distribution.distributionArn,
        ),
        allowItems(table, ['cost-guard', 'spending#*'], 'GetItem'),
        allowItems(table, ['cost-guard'], 'PutItem'),
        ...allow(['sns:Publish'], topic?.topicArn),
      ],
    });
    // A separate policy: as an inline policy of the role, role and function would depend on each other.
    new Policy(this, 'ReservesForItself', {
      roles: [this.function.executionRole],
      statements: limitConcurrency(this.function),
    });
    this.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    this.function.invokeEvery(GUARD_INTERVAL, 'Schedule', 'Compares spending with its caps');
    new CfnOutput(this, 'Name', {
      key: 'CostGuardFunction',
      description: 'The function that npm run infra -- reopen invokes',
      value: this.function.functionName,
    });
  }
}

const limitConcurrency = (limited: ServiceFunction | undefined): PolicyStatement[] =>
  allow(
    ['Get', 'Put', 'Delete'].map((verb) => `lambda:${verb}FunctionConcurrency`),
    limited?.functionArn,
  );

/** The metrics that spending is computed from: those that AWS records each minute by default, and one that stream tasks write. */
function watchedMetrics(
  { deployment, edge, api, onDemand }: MonitoringProps,
  { cachesStreams }: SpendingPlan,
): WatchedMetric[] {
  const { settings, profile } = deployment;
  const prices = unitPrices(settings, profile);
  const ofEdge = {
    namespace: 'AWS/CloudFront',
    dimensions: { DistributionId: edge.distribution.distributionId, Region: 'Global' },
    // The only region that has metrics of CloudFront.
    region: 'us-east-1',
    statistic: 'Sum',
  } as const;
  const ofFunction = ({ functionName }: ServiceFunction) =>
    ({
      namespace: 'AWS/Lambda',
      dimensions: { FunctionName: functionName },
      statistic: 'Sum',
      unseenMinutes: UNSEEN_MINUTES.region,
    }) as const;
  const ofResolver = ofFunction(api.resolver);
  return [
    {
      ...ofEdge,
      name: 'BytesDownloaded',
      usd: prices.edgeByte,
      unseenMinutes: cachesStreams ? UNSEEN_MINUTES.edge : 0,
      isMetered: !cachesStreams,
    },
    {
      ...ofEdge,
      name: 'Requests',
      usd: prices.edgeRequest,
      unseenMinutes: UNSEEN_MINUTES.edge,
      isDoor: true,
    },
    {
      ...ofEdge,
      name: 'BytesUploaded',
      usd: prices.uploadByte,
      unseenMinutes: UNSEEN_MINUTES.edge,
    },
    // The metric is in milliseconds.
    { ...ofResolver, name: 'Duration', usd: prices.resolverSecond / 1000 },
    { ...ofResolver, name: 'Invocations', usd: prices.resolve },
    ...(onDemand ? [{ ...ofFunction(onDemand.wake), name: 'Invocations', usd: prices.wakeRequest }] : []),
    {
      namespace: 'AWS/ApiGateway',
      name: 'Count',
      dimensions: { ApiId: api.httpApi.apiId },
      statistic: 'Sum',
      usd: prices.apiRequest,
      unseenMinutes: UNSEEN_MINUTES.region,
      isDoor: true,
    },
    {
      // Each task writes it once a minute.
      namespace: 'Reelay',
      name: 'Streams',
      dimensions: { Stage: settings.stage },
      statistic: 'SampleCount',
      usd: prices.taskMinute,
      unseenMinutes: UNSEEN_MINUTES.region,
    },
  ];
}
