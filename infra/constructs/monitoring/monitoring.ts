import { Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { hasBudgets } from '../../config/index.ts';
import { Alarms } from './alarms.ts';
import { AccountBudget } from './budget.ts';
import { CostGuard } from './cost-guard.ts';
import { ServiceDashboard } from './dashboard.ts';
import type { MonitoringProps } from './monitoring-props.ts';

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
    // Accounts of an organization may not have one, and then refuse the whole stack.
    const isWanted = settings.alarmEmail && profile.monthlyBudget > 0 && hasBudgets(Stack.of(this).region);
    if (isWanted) new AccountBudget(this, 'Budget', settings.alarmEmail, props.deployment);
  }
}
