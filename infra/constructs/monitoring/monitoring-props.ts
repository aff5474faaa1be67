import type { KeyValueStore } from 'aws-cdk-lib/aws-cloudfront';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Deployment } from '../../config/index.ts';
import type { Api } from '../api/index.ts';
import type { EdgeDistribution } from '../edge/index.ts';
import type { ServiceFunction } from '../shared/index.ts';
import type { BalancedStreamHost } from '../stream-host/index.ts';
import type { ToolUpdates } from '../tools/index.ts';

/** What the dashboard, the alarms, the cost guard and the budget observe. */
export interface MonitoringProps {
  readonly deployment: Deployment;
  readonly table: ITable;
  readonly api: Api;
  readonly updates: ToolUpdates;
  readonly edge: EdgeDistribution;
  /** The store that the edge function reads. */
  readonly keyValueStore: KeyValueStore;
  /** Wakes the stream host, where it is on demand. */
  readonly wake?: ServiceFunction;
  /** Present in profiles with a load balancer. */
  readonly balanced?: BalancedStreamHost;
  /** Functions whose errors affect clients or operators. */
  readonly functions: readonly ServiceFunction[];
  /** The subset that every profile alarms on: without them nothing is served. */
  readonly criticalFunctions: readonly ServiceFunction[];
}
