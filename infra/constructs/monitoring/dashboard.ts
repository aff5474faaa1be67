import { Duration } from 'aws-cdk-lib';
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { type ServiceMetric, serviceMetric } from '../shared/index.ts';
import type { CostGuard } from './cost-guard.ts';
import type { MonitoringProps } from './monitoring-props.ts';

interface DashboardProps extends MonitoringProps {
  readonly guard: CostGuard;
}

/** The CloudWatch dashboard: spending, and the metrics of the service's own. AWS has pages for those of functions and tasks. */
export class ServiceDashboard extends Dashboard {
  constructor(scope: Construct, id: string, { deployment, guard }: DashboardProps) {
    super(scope, id, { defaultInterval: Duration.days(1) });
    const { stage } = deployment.settings;
    const service = (...names: ServiceMetric[]) => names.map((name) => serviceMetric(stage, name, { label: name }));
    // A search includes what first occurs after the deployment.
    const search = (namespace: string, metric: string) =>
      new MathExpression({
        expression: `SEARCH('{${namespace}} MetricName="${metric}" Stage="${stage}"', 'Sum', 300)`,
        label: '',
        usingMetrics: {},
      });
    const graphs: Record<string, IMetric[]> = {
      'Resolves by outcome': [search('Reelay,Stage,Outcome', 'Resolves')],
      Streams: service('Streams', 'StreamsStarted', 'ReResolves', 'FfmpegFailures'),
      'Bytes sent': service('BytesSent'),
      Tools: service('ToolAgeHours', 'ToolUpdateFailed', 'MaintenanceSeconds', 'ProcessPerLink'),
    };
    this.addWidgets(
      // Queries of logs: metrics of these would be billed.
      new LogQueryWidget({
        title: 'Spending today (USD by list prices), its cap, and whether the edge is closed',
        logGroupNames: [guard.function.logGroup.logGroupName],
        view: LogQueryVisualizationType.LINE,
        queryLines: [
          'filter ispresent(spentToday)',
          'stats max(spentToday) as spent, max(capToday) as cap, max(closed) as closed by bin(5m)',
        ],
      }),
      ...Object.entries(graphs).map(([title, left]) => new GraphWidget({ title, left })),
    );
  }
}
