import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

export interface StateTableProps {
  readonly pointInTimeRecovery: boolean;
}

/** Everything the service remembers, in one table: paid by use, items deleted some time after their `expiresAt`. */
export class StateTable extends TableV2 {
  constructor(scope: Construct, id: string, { pointInTimeRecovery }: StateTableProps) {
    super(scope, id, {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: pointInTimeRecovery },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    if (!pointInTimeRecovery) {
      Validations.of(this).acknowledge({
        id: 'AwsSolutions-DDB3',
        reason: 'Resolved links are found again by resolving; only the count of requests would be lost',
      });
    }
  }

  /** May do this with items whose key is among these patterns. @param actions without their prefix: `GetItem` */
  allowItems(keys: readonly string[], ...actions: string[]): PolicyStatement {
    return new PolicyStatement({
      actions: actions.map((action) => `dynamodb:${action}`),
      resources: [this.tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys } },
    });
  }
}
