import { Duration } from 'aws-cdk-lib';
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  Metric,
  PeriodOverride,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { serviceMetric } from '../shared/index.ts';
import type { CostGuard } from './cost-guard.ts';
import type { MonitoringProps } from './monitoring-props.ts';

/** Three widgets per row: a dashboard has 24 columns. */
const WIDGET_WIDTH = 8;
const WIDGET_HEIGHT = 6;

export interface DashboardProps extends MonitoringProps {
  readonly guard: CostGuard;
}

/** The CloudWatch dashboard: resolves, streams, tools, CloudFront errors and, with a load balancer, its tasks. */
export class ServiceDashboard extends Dashboard {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id, { periodOverride: PeriodOverride.AUTO, defaultInterval: Duration.days(1) });
    this.addWidgets(...resolveWidgets(props));
    this.addWidgets(problemsWidget(props), spendingWidget(props));
    this.addWidgets(...streamWidgets(props));
    this.addWidgets(...toolWidgets(props), edgeWidget(props));
    this.addWidgets(...hostWidgets(props));
  }
}

function resolveWidgets({ deployment, api, functions }: MonitoringProps): IWidget[] {
  const { stage } = deployment.settings;
  // A search expression includes outcomes that first occur after deployment.
  const byOutcome = new MathExpression({
    expression: `SEARCH('{Reelay,Stage,Outcome} MetricName="Resolves" Stage="${stage}"', 'Sum', 300)`,
    label: '',
    usingMetrics: {},
  });
  const percentiles = [50, 95, 99].map((percent) =>
    api.resolver.metricDuration({ statistic: Stats.p(percent), label: `p${percent}` }),
  );
  return [
    graph('Resolves by outcome', [byOutcome]),
    graph('Time to resolve (ms)', percentiles),
    graph(
      'Function errors',
      functions.map((each) => each.metricErrors({ label: each.node.id })),
    ),
  ];
}

/** A query of the log, for a metric of each type of problem would be billed. */
const problemsWidget = ({ api }: MonitoringProps): IWidget =>
  new LogQueryWidget({
    title: 'Failed resolves by type of problem',
    logGroupNames: [api.resolver.logGroup.logGroupName],
    queryLines: ['filter ispresent(Problem)', 'stats count() as links by Problem', 'sort links desc'],
    width: WIDGET_WIDTH,
    height: WIDGET_HEIGHT,
  });

/** Reads the guard's log: metrics of its own would be billed. */
const spendingWidget = ({ guard }: DashboardProps): IWidget =>
  new LogQueryWidget({
    title: 'Spending today (USD by list prices), its cap, and whether the edge is closed',
    logGroupNames: [guard.function.logGroup.logGroupName],
    view: LogQueryVisualizationType.LINE,
    queryLines: [
      'filter ispresent(spentToday)',
      'stats max(spentToday) as spent, max(capToday) as cap, max(closed) as closed by bin(5m)',
    ],
    width: WIDGET_WIDTH,
    height: WIDGET_HEIGHT,
  });

function streamWidgets({ deployment }: MonitoringProps): IWidget[] {
  const { stage } = deployment.settings;
  const minute = Duration.minutes(1);
  return [
    graph('Streams', [
      serviceMetric(stage, 'Streams', { label: 'running', period: minute }),
      serviceMetric(stage, 'StreamsStarted', { label: 'started', period: minute }),
    ]),
    graph('Bytes sent', [serviceMetric(stage, 'BytesSent', { period: minute })]),
    graph('Source failures', [
      serviceMetric(stage, 'ReResolves', { label: 'resolved again' }),
      serviceMetric(stage, 'FfmpegFailures', { label: 'FFmpeg failed' }),
    ]),
  ];
}

function toolWidgets({ deployment }: MonitoringProps): IWidget[] {
  const { stage } = deployment.settings;
  return [
    graph('Age of the tools (hours)', [serviceMetric(stage, 'ToolAgeHours', { statistic: 'Maximum' })]),
    graph('Updates of the tools', [
      serviceMetric(stage, 'ToolUpdateFailed', { label: 'failed' }),
      serviceMetric(stage, 'MaintenanceSeconds', { label: 'seconds of maintenance', statistic: 'Maximum' }),
      serviceMetric(stage, 'ProcessPerLink', { label: 'resolvers without a warm worker' }),
    ]),
  ];
}

/** CloudFront publishes its metrics in us-east-1 only. */
function edgeWidget({ edge }: MonitoringProps): IWidget {
  const rate = (metricName: string) =>
    new Metric({
      namespace: 'AWS/CloudFront',
      metricName,
      dimensionsMap: { DistributionId: edge.distribution.distributionId, Region: 'Global' },
      region: 'us-east-1',
      statistic: 'Average',
    });
  return graph('Errors at the edge (%)', [rate('4xxErrorRate'), rate('5xxErrorRate')], 'us-east-1');
}

function hostWidgets({ balanced }: MonitoringProps): IWidget[] {
  if (!balanced) return [];
  const { metrics } = balanced.balancer;
  return [
    graph('Tasks', [balanced.targets.metrics.healthyHostCount({ label: 'healthy', statistic: 'Minimum' })]),
    graph('Task CPU and memory (%)', [
      balanced.service.metricCpuUtilization({ label: 'CPU' }),
      balanced.service.metricMemoryUtilization({ label: 'memory' }),
    ]),
    graph('Load balancer', [metrics.activeConnectionCount({ label: 'connections' }), metrics.processedBytes()]),
  ];
}

const graph = (title: string, left: IMetric[], region?: string): IWidget =>
  new GraphWidget({ title, left, width: WIDGET_WIDTH, height: WIDGET_HEIGHT, ...(region && { region }) });
