import { ArnFormat, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { KeyValueStore } from 'aws-cdk-lib/aws-cloudfront';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { spendingPlan } from '../../cost/index.ts';
import { allowItems, ServiceFunction } from '../shared/index.ts';
import type { MonitoringProps } from './monitoring-props.ts';
import { watchedMetrics } from './watched-metrics.ts';

export interface CostGuardProps extends Pick<MonitoringProps, 'deployment' | 'table' | 'edge' | 'api' | 'wake'> {
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
    const { deployment, table, api, wake, keyValueStore, topic } = props;
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
        RESOLVER_LIMIT: String(profile.resolverLimit),
        SPENDING_PLAN: Stack.of(this).toJsonString({
          ...plan,
          metrics: watchedMetrics(props, plan),
          rates: {
            all: { throttlingRateLimit: profile.apiRate, throttlingBurstLimit: profile.apiBurst },
            resolves: { throttlingRateLimit: profile.resolveRate, throttlingBurstLimit: profile.resolveBurst },
          },
        }),
        ...(wake && { WAKE_FUNCTION: wake.functionName }),
        ...(topic && { ALARM_TOPIC: topic.topicArn }),
      },
      permissions: [
        new PolicyStatement({ actions: ['cloudwatch:GetMetricStatistics'], resources: ['*'] }),
        new PolicyStatement({
          actions: ['apigateway:GET', 'apigateway:PATCH'],
          resources: [
            Stack.of(this).formatArn({
              service: 'apigateway',
              account: '',
              resource: `/apis/${api.httpApi.apiId}/stages/$default`,
              arnFormat: ArnFormat.NO_RESOURCE_NAME,
            }),
          ],
        }),
        limitConcurrency(resolver, ...(wake ? [wake] : [])),
        new PolicyStatement({
          actions: ['DescribeKeyValueStore', 'PutKey', 'DeleteKey'].map(
            (action) => `cloudfront-keyvaluestore:${action}`,
          ),
          resources: [keyValueStore.keyValueStoreArn],
        }),
        allowItems(table, ['cost-guard', 'spending#*'], 'GetItem'),
        allowItems(table, ['cost-guard'], 'PutItem'),
        ...(topic ? [new PolicyStatement({ actions: ['sns:Publish'], resources: [topic.topicArn] })] : []),
      ],
      wildcards: [{ finding: /^Resource::\*$/, reason: 'GetMetricStatistics supports no resource' }],
    });
    // A separate policy: as an inline policy of the role, role and function would depend on each other.
    new Policy(this, 'ReservesForItself', {
      roles: [this.function.executionRole],
      statements: [limitConcurrency(this.function)],
    });
    this.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Rule(this, 'Schedule', {
      description: 'Compares spending with its caps',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(this.function, { retryAttempts: 0 })],
    });
    new CfnOutput(this, 'Name', {
      key: 'CostGuardFunction',
      description: 'The function that npm run infra -- reopen invokes',
      value: this.function.functionName,
    });
  }
}

const limitConcurrency = (...functions: readonly ServiceFunction[]): PolicyStatement =>
  new PolicyStatement({
    actions: ['Get', 'Put', 'Delete'].map((verb) => `lambda:${verb}FunctionConcurrency`),
    resources: functions.map(({ functionArn }) => functionArn),
  });
