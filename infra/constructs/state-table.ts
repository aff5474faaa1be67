import { RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { AttributeType, Billing, CfnGlobalTable, CfnTable, type ITable, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { SettingError } from '../../core/config/index.ts';

interface StateTableProps {
  readonly pointInTimeRecovery: boolean;
  /** Whether it stays when the stack is deleted. A first deployment that fails deletes it in any case. */
  readonly isRetained: boolean;
}

/** The DynamoDB table with all state of the service: on-demand capacity, TTL on `expiresAt`. */
export class StateTable extends TableV2 {
  constructor(scope: Construct, id: string, { pointInTimeRecovery, isRetained }: StateTableProps) {
    super(scope, id, {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: pointInTimeRecovery },
      removalPolicy: isRetained ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    });
    if (!pointInTimeRecovery) {
      Validations.of(this).acknowledge({
        id: 'AwsSolutions-DDB3',
        reason: 'Lost resources are resolved again; only the request count would be lost',
      });
    }
  }
}

/**
 * Rejects a table of another stack that the service cannot use, as far as it is known at synthesis.
 * @throws SettingError that says what the table needs
 */
export function checkTable(table: ITable): void {
  if (table.encryptionKey)
    throw new SettingError('table must be encrypted by a key of DynamoDB or AWS: no role may use a key of your own');
  const { defaultChild } = table.node;
  if (!(defaultChild instanceof CfnTable || defaultChild instanceof CfnGlobalTable)) return;
  const stack = Stack.of(table);
  const schema: CfnTable.KeySchemaProperty[] = stack.resolve(defaultChild.keySchema);
  const { attributeName, enabled }: Partial<CfnTable.TimeToLiveSpecificationProperty> =
    stack.resolve(defaultChild.timeToLiveSpecification) ?? {};
  const isKeyed = schema.length === 1 && schema[0]?.attributeName === 'pk';
  if (!isKeyed || attributeName !== 'expiresAt' || !enabled)
    throw new SettingError('table must have the partition key pk, no sort key, and expiresAt as its time to live');
}
