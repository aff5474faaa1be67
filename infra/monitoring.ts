import { Construct } from 'constructs';
import type { Api } from './api.ts';
import type { BalancedStreamHost } from './balanced-stream-host.ts';
import type { Deployment } from './deployment.ts';
import type { EdgeDistribution } from './edge-distribution.ts';
import type { StateTable } from './state-table.ts';
import type { ToolUpdates } from './tool-updates.ts';

export interface MonitoringOptions {
  readonly deployment: Deployment;
  readonly table: StateTable;
  readonly api: Api;
  readonly updates: ToolUpdates;
  readonly edge: EdgeDistribution;
  readonly balanced?: BalancedStreamHost;
}

export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, _options: MonitoringOptions) {
    super(scope, id);
  }
}
