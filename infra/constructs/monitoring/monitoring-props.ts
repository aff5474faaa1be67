import type { KeyValueStore } from 'aws-cdk-lib/aws-cloudfront';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Deployment } from '../../config/index.ts';
import type { Api } from '../api/index.ts';
import type { AccessKeys, EdgeDistribution } from '../edge/index.ts';
import type { BalancedStreamHost, OnDemandStreamHost } from '../stream-host/index.ts';
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
  /** Present in private instances. */
  readonly accessKeys?: AccessKeys | undefined;
  /** Present in profiles without a load balancer. */
  readonly onDemand?: OnDemandStreamHost;
  /** Present in profiles with a load balancer. */
  readonly balanced?: BalancedStreamHost;
}
