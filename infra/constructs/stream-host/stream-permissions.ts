import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { variablesFor } from '../../../core/config/index.ts';
import type { Deployment } from '../../config/index.ts';
import { spendingPlan, unitPrices } from '../../cost/index.ts';
import { allowItems, secretReadStatements, type Wildcard } from '../shared/index.ts';
import type { Tools } from '../tools/index.ts';

/** What the stream service reads and writes, wherever it runs. */
export interface StreamDependencies {
  readonly deployment: Deployment;
  readonly table: ITable;
  readonly tools: Tools;
}

/** Permissions of the stream service. */
export const streamStatements = ({ deployment, table, tools }: StreamDependencies): PolicyStatement[] => [
  allowItems(table, ['resource#*', 'maintenance', 'cost-guard'], 'GetItem'),
  // Expired links are resolved again, and each use extends the resource's expiry.
  allowItems(table, ['resource#*'], 'PutItem'),
  // What a day's streams have cost is counted beside them.
  allowItems(table, ['resource#*', 'spending#*'], 'UpdateItem'),
  new PolicyStatement({ actions: ['s3:GetObject'], resources: [tools.bucket.arnForObjects('*')] }),
  // With ListBucket, S3 answers 404 instead of 403 for missing objects.
  new PolicyStatement({ actions: ['s3:ListBucket'], resources: [tools.bucket.bucketArn] }),
  ...secretReadStatements(deployment.settings),
];

/** The wildcards among those permissions. */
export const STREAM_WILDCARDS: readonly Wildcard[] = [
  {
    finding: /^Resource::<ToolsBucket\w+\.Arn>\/\*$/,
    reason: 'Release archives in one bucket; their keys contain the version',
  },
];

export interface StreamVariables {
  /** Number of proxies between client and service whose X-Forwarded-For is trusted. */
  readonly trustedProxies: number;
  /** Minutes without a stream after which the service exits; 0: never. */
  readonly idleMinutes: number;
}

/** Environment variables of the stream service that do not depend on where it runs. */
export function streamVariables(
  { deployment, table, tools }: StreamDependencies,
  { trustedProxies, idleMinutes }: StreamVariables,
): Record<string, string> {
  const { settings, profile } = deployment;
  const { cachesStreams, dailyCap } = spendingPlan(settings, profile);
  const { edgeByte } = unitPrices(settings, profile);
  // Bytes that the edge keeps leave without the service.
  const isMetered = !cachesStreams && edgeByte > 0;
  return {
    STAGE: settings.stage,
    TABLE_NAME: table.tableName,
    TOOLS_BUCKET: tools.bucket.bucketName,
    IDLE_MINUTES: String(idleMinutes),
    TRUSTED_PROXIES: String(trustedProxies),
    ...(isMetered && { STREAM_BYTES_A_DAY: String(Math.floor(dailyCap / edgeByte)) }),
    ...variablesFor('stream-task', settings),
  };
}
