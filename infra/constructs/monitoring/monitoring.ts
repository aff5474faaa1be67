import { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import { AccountBudget } from './budget.ts';
import { ServiceDashboard } from './dashboard.ts';
import type { MonitoringProps } from './monitoring-props.ts';

/** Monitoring for operators: the dashboard, the alarms and the budget. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    new ServiceDashboard(this, 'Dashboard', props);
    new Alarms(this, 'Alarms', props);
    new AccountBudget(this, 'Budget', props.deployment);
  }
}
