import { Duration, Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaAction, SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { HttpCodeTarget } from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { CLOUDFRONT_REGION } from '../settings.ts';
import { unitPrices } from '../spending-plan.ts';
import { type CostGuard, GUARD_INTERVAL, type MonitoringProps } from './cost-guard.ts';
import { type ServiceFunction, serviceMetric } from './service-function.ts';
import { INSTALL_RETRY_INTERVAL } from './tools.ts';

/** An alarm, by default raised once its metric was above 0 for five minutes. */
interface AlarmDefinition extends Partial<Omit<AlarmProps, 'metric'>> {
  readonly metric: IMetric;
  readonly description: string;
  /** A function that the alarm invokes. */
  readonly invokes?: ServiceFunction;
}

/** Separate from the constructor's: the guard sends through the topic of these alarms, which observe it. */
interface AlarmsProps extends MonitoringProps {
  readonly guard: CostGuard;
}

/** The CloudWatch alarms and, with `alarmEmail`, the SNS topic that sends them by e-mail. */
export class Alarms extends Construct {
  /** Absent without `alarmEmail`. */
  readonly topic: Topic | undefined;

  constructor(scope: Construct, id: string, { deployment }: Pick<MonitoringProps, 'deployment'>) {
    super(scope, id);
    const { alarmEmail } = deployment.settings;
    this.topic = alarmEmail ? this.#createTopic(alarmEmail) : undefined;
  }

  /** Adds the alarms of the parts that the deployment has. */
  observe(props: AlarmsProps): void {
    const { stage } = props.deployment.settings;
    for (const [name, { description, invokes, ...definition }] of Object.entries(alarms(props))) {
      const alarm = new Alarm(this, name, {
        alarmDescription: `Reelay ${stage}: ${description}`,
        threshold: 0,
        comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
        evaluationPeriods: 1,
        // Without events there is no data.
        treatMissingData: TreatMissingData.NOT_BREACHING,
        ...definition,
      });
      if (this.topic) alarm.addAlarmAction(new SnsAction(this.topic));
      if (!invokes) continue;
      alarm.addAlarmAction(new LambdaAction(invokes));
      // A deletion of the tools waits for the runs in progress: afterwards none may begin.
      alarm.node.addDependency(props.api.toolsInstalled);
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

/** The alarms of `hobby` use at most the ten metrics that are free in each account, unless the instance is private. */
function alarms({
  deployment,
  guard,
  accessKeys,
  updates,
  balanced,
  onDemand,
  api,
  edge,
}: AlarmsProps): Record<string, AlarmDefinition> {
  const { stage } = deployment.settings;
  const resolves = (outcome: string) => serviceMetric(stage, 'Resolves', { dimensionsMap: { Outcome: outcome } });
  return {
    ToolUpdateFailed: {
      description: 'the tools could not be updated; the installed ones stay in use',
      metric: new MathExpression({
        expression: 'SUM(METRICS())',
        usingMetrics: { failed: serviceMetric(stage, 'ToolUpdateFailed'), errors: updates.function.metricErrors() },
      }),
    },
    ToolsMissing: {
      description: 'there are no tools, so nothing can be resolved; their installation is retried every 15 minutes',
      metric: serviceMetric(stage, 'ToolsMissing', { period: INSTALL_RETRY_INTERVAL }),
    },
    FunctionErrors: {
      description: 'functions fail without a response',
      // The alarm on errors of the API covers the resolver too.
      metric: new MathExpression({
        expression: 'SUM(METRICS())',
        usingMetrics: {
          requests: (onDemand?.wake ?? api.resolver).metricErrors(),
          ...(accessKeys && { keys: accessKeys.function.metricErrors() }),
        },
      }),
    },
    CostGuardMissing: {
      description: 'the cost guard has not run for five minutes, so that nothing bounds the bill',
      // 1 where every run of a minute failed. Without a rule, or with all executions of the account taken, there is no run, and no value.
      metric: guard.function.metricErrors({ statistic: 'Average', period: GUARD_INTERVAL }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 5,
      treatMissingData: TreatMissingData.BREACHING,
    },
    FunctionThrottles: {
      description: 'the account has reached its limit of concurrent functions',
      metric: api.resolver.metricThrottles(),
      evaluationPeriods: 2,
    },
    ResolvesFailing: {
      description:
        'most resolves fail; a release of yt-dlp that was switched to within the last hour is rolled back if canary links fail with it',
      metric: new MathExpression({
        expression: 'IF(FILL(failed, 0) >= 5, failed / (failed + FILL(resolved, 0)), 0)',
        usingMetrics: { failed: resolves('failed'), resolved: resolves('resolved') },
      }),
      threshold: 0.5,
      evaluationPeriods: 2,
      invokes: updates.function,
    },
    ApiErrors: {
      description: 'the API repeatedly responds with 5xx',
      metric: api.httpApi.metricServerError({ statistic: 'Sum' }),
      threshold: 20,
      evaluationPeriods: 3,
    },
    ...(balanced && {
      TasksMissing: {
        description: 'fewer stream tasks are healthy than must run',
        metric: balanced.targets.metrics.healthyHostCount({ statistic: 'Minimum' }),
        threshold: deployment.profile.minTasks,
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        evaluationPeriods: 2,
        treatMissingData: TreatMissingData.BREACHING,
      },
      StreamErrors: {
        description: 'streams end in errors of the service',
        metric: balanced.targets.metrics.httpCodeTarget(HttpCodeTarget.TARGET_5XX_COUNT, { statistic: 'Sum' }),
        threshold: 50,
        evaluationPeriods: 2,
      },
    }),
    ...(Stack.of(edge).region === CLOUDFRONT_REGION && edgeAlarms({ deployment, guard, balanced, edge })),
  };
}

/** Daily caps that requests alone cost only where the cost guard has not closed the edge at the first one. */
const BRAKE_AT_CAPS = 3;

/**
 * CloudFront's metrics exist in us-east-1 only, and an alarm reads metrics of its own region. Elsewhere the alarms on API and stream tasks
 * cover what is behind the edge, and the budget tells of the bill.
 */
function edgeAlarms({
  deployment: { settings, profile },
  guard,
  balanced,
  edge: { distribution },
}: Pick<AlarmsProps, 'deployment' | 'guard' | 'balanced' | 'edge'>): Record<string, AlarmDefinition> {
  // CDK leaves out a dimension of these metrics.
  const dimensionsMap = { DistributionId: distribution.distributionId, Region: 'Global' };
  const { edgeRequest } = unitPrices(settings, profile);
  return {
    ...(edgeRequest > 0 && {
      CostGuardFailed: {
        description: `requests of a day cost ${BRAKE_AT_CAPS} daily caps, which the cost guard has not prevented: the distribution is disabled`,
        // Requests bound the bytes of the page too, in a metric that is free in hobby.
        metric: distribution.metricRequests({ dimensionsMap, statistic: 'Sum', period: Duration.days(1) }),
        threshold: Math.ceil((BRAKE_AT_CAPS * profile.dailyCap) / edgeRequest),
        invokes: guard.function,
      },
    }),
    ...(balanced && {
      EdgeErrors: {
        description: 'CloudFront answers 5xx to many requests',
        metric: distribution.metric5xxErrorRate({ dimensionsMap }),
        threshold: 10,
        evaluationPeriods: 3,
      },
    }),
  };
}
