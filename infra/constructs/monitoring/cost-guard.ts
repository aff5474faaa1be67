import { ArnFormat, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { KeyValueStore } from 'aws-cdk-lib/aws-cloudfront';
import { Policy, type PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { spendingPlan } from '../../cost/index.ts';
import { allow, allowItems, allowKeys, ServiceFunction } from '../shared/index.ts';
import type { MonitoringProps } from './monitoring-props.ts';
import { watchedMetrics } from './watched-metrics.ts';

interface CostGuardProps extends Pick<MonitoringProps, 'deployment' | 'table' | 'edge' | 'api' | 'onDemand'> {
  /** The store that the edge function reads. */
  readonly keyValueStore: KeyValueStore;
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
        ...(edge.firewall && { FIREWALL: edge.firewall }),
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
        ...allowKeys(keyValueStore.keyValueStoreArn, 'PutKey', 'DeleteKey'),
        ...allow(
          ['cloudfront:GetDistributionConfig', 'cloudfront:UpdateDistribution'],
          edge.distribution.distributionArn,
        ),
        ...allow(['wafv2:GetWebACL', 'wafv2:UpdateWebACL'], edge.firewall),
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
    this.function.invokeEvery(Duration.minutes(1), 'Schedule', 'Compares spending with its caps');
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
