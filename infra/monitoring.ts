import { Construct } from 'constructs';
import { Alarms } from './alarms.ts';
import type { Api } from './api.ts';
import type { BalancedStreamHost } from './balanced-stream-host.ts';
import { AccountBudget } from './budget.ts';
import { ServiceDashboard } from './dashboard.ts';
import type { Deployment } from './deployment.ts';
import type { EdgeDistribution } from './edge-distribution.ts';
import type { ServiceFunction } from './service-function.ts';
import type { StateTable } from './state-table.ts';
import type { ToolUpdates } from './tool-updates.ts';

export interface MonitoringOptions {
  readonly deployment: Deployment;
  readonly table: StateTable;
  readonly api: Api;
  readonly updates: ToolUpdates;
  readonly edge: EdgeDistribution;
  /** Where there is a load balancer. */
  readonly balanced?: BalancedStreamHost;
  /** Functions whose errors are a client's or the operator's to feel. */
  readonly functions: readonly ServiceFunction[];
  /** Those of them without which nothing is served. */
  readonly vital: readonly ServiceFunction[];
}

/** What an operator looks at, and what comes to the operator by itself. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, options: MonitoringOptions) {
    super(scope, id);
    new ServiceDashboard(this, 'Dashboard', options);
    new Alarms(this, 'Alarms', options);
    new AccountBudget(this, 'Budget', options.deployment);
  }
}
