import { Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { hasBudgets } from '../../config/index.ts';
import { Alarms } from './alarms.ts';
import { AccountBudget } from './budget.ts';
import { CostGuard } from './cost-guard.ts';
import { ServiceDashboard } from './dashboard.ts';
import type { MonitoringProps } from './monitoring-props.ts';

/** Monitoring for operators: the alarms, the cost guard, the dashboard, and the budget where the region has it. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { topic } = new Alarms(this, 'Alarms', props);
    const guard = new CostGuard(this, 'CostGuard', { ...props, topic });
    new ServiceDashboard(this, 'Dashboard', { ...props, guard });
    if (hasBudgets(Stack.of(this).region)) new AccountBudget(this, 'Budget', props.deployment);
  }
}
