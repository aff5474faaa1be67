import type { Deployment } from '../../config/index.ts';
import type { Api } from '../api/index.ts';
import type { EdgeDistribution } from '../edge/index.ts';
import type { ServiceFunction, StateTable } from '../shared/index.ts';
import type { BalancedStreamHost } from '../stream-host/index.ts';
import type { ToolUpdates } from '../tools/index.ts';

export interface MonitoringProps {
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
  readonly criticalFunctions: readonly ServiceFunction[];
}
