import { Duration, Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Deployment } from '../profiles.ts';
import { hasBudgets } from '../settings.ts';
import { Alarms } from './alarms.ts';
import { CostGuard, type MonitoringProps } from './cost-guard.ts';
import { type ServiceMetric, serviceMetric } from './service-function.ts';

/**
 * Monitoring for operators: the alarms, the cost guard and the dashboard, and a budget if `alarmEmail` is set and the region supports
 * budgets.
 */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const alarms = new Alarms(this, 'Alarms', props);
    const guard = new CostGuard(this, 'CostGuard', { ...props, topic: alarms.topic });
    alarms.observe({ ...props, guard });
    new ServiceDashboard(this, 'Dashboard', { ...props, guard });
    const { settings, profile } = props.deployment;
    // Accounts of an organization may have no right to create budgets, in which case the whole deployment would fail.
    const isWanted = settings.alarmEmail && profile.monthlyBudget > 0 && hasBudgets(Stack.of(this).region);
    if (isWanted) new AccountBudget(this, 'Budget', settings.alarmEmail, props.deployment);
  }
}

/** Notification thresholds in percent of the budget: two for actual cost, one for the forecast. */
const NOTIFICATIONS = [
  { notificationType: 'ACTUAL', threshold: 50 },
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
];

/**
 * A monthly cost budget of the account, which tells an address. It covers the whole account, because filtering by the stack's
 * tags requires activating them for billing by hand.
 */
class AccountBudget extends CfnBudget {
  constructor(scope: Construct, id: string, address: string, { profile }: Pick<Deployment, 'profile'>) {
    super(scope, id, {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: profile.monthlyBudget, unit: 'USD' },
      },
      notificationsWithSubscribers: NOTIFICATIONS.map((warning) => ({
        notification: { ...warning, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
        subscribers: [{ subscriptionType: 'EMAIL', address }],
      })),
    });
  }
}

interface DashboardProps extends MonitoringProps {
  readonly guard: CostGuard;
}

/** The CloudWatch dashboard: spending, and the service's own metrics. AWS shows those of functions and tasks on pages of its own. */
class ServiceDashboard extends Dashboard {
  constructor(scope: Construct, id: string, { deployment, guard }: DashboardProps) {
    super(scope, id, { defaultInterval: Duration.days(1) });
    const { stage } = deployment.settings;
    const service = (...names: ServiceMetric[]) => names.map((name) => serviceMetric(stage, name, { label: name }));
    // A search also finds dimensions that first occur after the deployment.
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
      // Queries of logs, because custom metrics would be billed.
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
