import { Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { hasBudgets } from '../../config/index.ts';
import { Alarms } from './alarms.ts';
import { AccountBudget } from './budget.ts';
import { ServiceDashboard } from './dashboard.ts';
import type { MonitoringProps } from './monitoring-props.ts';

/** Monitoring for operators: the dashboard, the alarms, and the budget where the region has them. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    new ServiceDashboard(this, 'Dashboard', props);
    new Alarms(this, 'Alarms', props);
    if (hasBudgets(Stack.of(this).region)) new AccountBudget(this, 'Budget', props.deployment);
  }
}
