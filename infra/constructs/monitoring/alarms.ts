import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaAction, SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { HttpCodeTarget } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { type ServiceFunction, serviceMetric } from '../shared/index.ts';
import { INSTALL_RETRY_INTERVAL } from '../tools/index.ts';
import type { MonitoringProps } from './monitoring-props.ts';

/** An alarm that is raised once its metric is above or below a threshold for a number of five-minute periods. */
interface AlarmDefinition {
  readonly description: string;
  readonly metric: IMetric;
  readonly above?: number;
  readonly below?: number;
  /** @default 1 */
  readonly periods?: number;
  /** A function that the alarm invokes. */
  readonly invokes?: ServiceFunction;
  /** @default 'notBreaching': without events there is no data */
  readonly missing?: TreatMissingData;
}

/** Close to the resolver's timeout of 29 s. */
const SLOW_RESOLVE_MS = 23_000;
const MAX_MAINTENANCE_SECONDS = 300;
/** In five minutes. */
const MAX_API_ERRORS = 20;
const MAX_EDGE_ERROR_PERCENT = 10;
/** yt-dlp has gone three months without a release before. */
const MAX_TOOL_AGE_HOURS = 120 * 24;

/** The profile's CloudWatch alarms and, with `alarmEmail`, the SNS topic that sends them by e-mail. */
export class Alarms extends Construct {
  /** Absent without `alarmEmail`. */
  readonly topic: Topic | undefined;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { settings, profile } = props.deployment;
    this.topic = settings.alarmEmail ? this.#createTopic(settings.alarmEmail) : undefined;
    const troubles = { ...essentialAlarms(props), ...(profile.alarms === 'full' && additionalAlarms(props)) };
    for (const [name, { description, metric, above, below, periods = 1, missing, invokes }] of Object.entries(
      troubles,
    )) {
      const alarm = new Alarm(this, name, {
        alarmDescription: `Reelay ${settings.stage}: ${description}`,
        metric,
        threshold: below ?? above ?? 0,
        comparisonOperator:
          below === undefined ? ComparisonOperator.GREATER_THAN_THRESHOLD : ComparisonOperator.LESS_THAN_THRESHOLD,
        evaluationPeriods: periods,
        treatMissingData: missing ?? TreatMissingData.NOT_BREACHING,
      });
      if (this.topic) alarm.addAlarmAction(new SnsAction(this.topic));
      if (invokes) alarm.addAlarmAction(new LambdaAction(invokes));
    }
  }

  #createTopic(address: string): Topic {
    const topic = new Topic(this, 'Topic', { enforceSSL: true });
    topic.addSubscription(new EmailSubscription(address));
    // An explicit topic policy replaces the default one, which admits CloudWatch.
    topic.addToResourcePolicy(
      new PolicyStatement({
        actions: ['sns:Publish'],
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    return topic;
  }
}

function essentialAlarms(props: MonitoringProps): Record<string, AlarmDefinition> {
  const { deployment, updates, balanced, api, functions, criticalFunctions } = props;
  const { stage } = deployment.settings;
  // CloudWatch bills each metric of an alarm; the first ten are free.
  const isFull = deployment.profile.alarms === 'full';
  return {
    ToolUpdateFailed: {
      description: 'the tools could not be updated; the installed ones stay in use',
      metric: sumOf([serviceMetric(stage, 'ToolUpdateFailed'), updates.function.metricErrors()]),
      above: 0,
    },
    ToolsMissing: {
      description: 'there are no tools, so nothing can be resolved; their installation is retried every 15 minutes',
      metric: serviceMetric(stage, 'ToolsMissing', { period: INSTALL_RETRY_INTERVAL }),
      above: 0,
    },
    FunctionErrors: {
      description: 'functions fail without a response',
      metric: sumOf((isFull ? functions : criticalFunctions).map((each) => each.metricErrors())),
      above: 0,
    },
    FunctionThrottles: {
      description: 'the account has reached its limit of concurrent functions',
      metric: sumOf((isFull ? functions : [api.resolver]).map((each) => each.metricThrottles())),
      above: 0,
      periods: 2,
    },
    ResolvesFailing: {
      description:
        'most resolves fail; a release of yt-dlp that was switched to within the last hour is rolled back if canary links fail with it',
      metric: new MathExpression({
        expression: 'IF(FILL(failed, 0) >= 5, failed / (failed + FILL(resolved, 0)), 0)',
        usingMetrics: {
          failed: serviceMetric(stage, 'Resolves', { dimensionsMap: { Outcome: 'failed' } }),
          resolved: serviceMetric(stage, 'Resolves', { dimensionsMap: { Outcome: 'resolved' } }),
        },
        period: Duration.minutes(5),
      }),
      above: 0.5,
      periods: 2,
      invokes: updates.function,
    },
    ApiErrors: {
      description: 'the API repeatedly responds with 5xx',
      metric: api.httpApi.metricServerError({ statistic: 'Sum', period: Duration.minutes(5) }),
      above: MAX_API_ERRORS,
      periods: 3,
    },
    ...(deployment.profile.streamHost === 'on-demand' && {
      TaskRunsLong: {
        description: 'the stream task has been running for twelve hours, which costs about $0.03 an hour',
        metric: serviceMetric(stage, 'Streams', { statistic: 'SampleCount', period: Duration.hours(1) }),
        above: 0,
        periods: 12,
      },
    }),
    ...(balanced && {
      TasksMissing: {
        description: 'fewer stream tasks are healthy than must run',
        metric: balanced.targets.metrics.healthyHostCount({ statistic: 'Minimum' }),
        below: deployment.profile.minTasks,
        periods: 2,
        missing: TreatMissingData.BREACHING,
      },
      StreamErrors: {
        description: 'streams end in errors of the service',
        metric: balanced.targets.metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, { statistic: 'Sum' }),
        above: 50,
        periods: 2,
      },
    }),
    ...(balanced && edgeAlarm(props)),
  };
}

/**
 * CloudFront's metrics exist in us-east-1 only, and an alarm reads metrics of its own region. Elsewhere the alarms on API and
 * stream tasks cover what is behind the edge.
 */
function edgeAlarm({ edge }: MonitoringProps): Record<string, AlarmDefinition> {
  if (Stack.of(edge).region !== 'us-east-1') return {};
  return {
    EdgeErrors: {
      description: 'CloudFront answers 5xx to many requests',
      metric: new Metric({
        namespace: 'AWS/CloudFront',
        metricName: '5xxErrorRate',
        dimensionsMap: { DistributionId: edge.distribution.distributionId, Region: 'Global' },
        statistic: 'Average',
        period: Duration.minutes(5),
      }),
      above: MAX_EDGE_ERROR_PERCENT,
      periods: 3,
    },
  };
}

function additionalAlarms({ deployment, table, api, balanced }: MonitoringProps): Record<string, AlarmDefinition> {
  const { stage } = deployment.settings;
  return {
    MaintenanceTooLong: {
      description: 'maintenance has lasted for more than five minutes; nothing is resolved meanwhile',
      metric: serviceMetric(stage, 'MaintenanceSeconds', { statistic: 'Maximum' }),
      above: MAX_MAINTENANCE_SECONDS,
    },
    TableThrottles: {
      description: 'the table refuses reads or writes',
      metric: sumOf(
        ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) => table.metric(name, { statistic: 'Sum' })),
      ),
      above: 0,
      periods: 2,
    },
    ResolvesSlow: {
      description: 'one resolve in a hundred comes close to its timeout',
      metric: api.resolver.metricDuration({ statistic: Stats.p(99) }),
      above: SLOW_RESOLVE_MS,
      periods: 3,
    },
    FfmpegFailures: {
      description: 'FFmpeg fails repeatedly',
      metric: serviceMetric(stage, 'FfmpegFailures'),
      above: 20,
      periods: 2,
    },
    ReResolvesMany: {
      description: 'half of the streams find their links expired or bound to another address',
      metric: new MathExpression({
        expression: 'IF(started > 20, resolvedAgain / started, 0)',
        usingMetrics: {
          started: serviceMetric(stage, 'StreamsStarted'),
          resolvedAgain: serviceMetric(stage, 'ReResolves'),
        },
        period: Duration.minutes(5),
      }),
      above: 0.5,
      periods: 3,
    },
    ToolsOld: {
      description: 'the release in use is months old',
      metric: serviceMetric(stage, 'ToolAgeHours', { statistic: 'Minimum', period: Duration.hours(1) }),
      above: MAX_TOOL_AGE_HOURS,
    },
    ProcessPerLink: {
      description:
        'the warm worker does not fit the release of yt-dlp in use: each link takes a process, and a second more',
      metric: serviceMetric(stage, 'ProcessPerLink', { statistic: 'Maximum' }),
      above: 0,
    },
    ...(balanced && {
      CpuExhausted: {
        description: 'the tasks use all of their CPU, and their maximum number runs',
        metric: balanced.service.metricCpuUtilization(),
        above: 90,
        periods: 3,
      },
    }),
  };
}

/** The sum of several metrics; a metric without data counts as 0. */
function sumOf(metrics: readonly IMetric[]): IMetric {
  const usingMetrics = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
  return new MathExpression({ expression: 'SUM(METRICS())', usingMetrics, period: Duration.minutes(5) });
}
