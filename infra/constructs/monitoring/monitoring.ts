import { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import { AccountBudget } from './budget.ts';
import { ServiceDashboard } from './dashboard.ts';
import type { MonitoringOptions } from './monitoring-options.ts';

/** What an operator looks at, and what comes to the operator by itself. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, options: MonitoringOptions) {
    super(scope, id);
    new ServiceDashboard(this, 'Dashboard', options);
    new Alarms(this, 'Alarms', options);
    new AccountBudget(this, 'Budget', options.deployment);
  }
}
