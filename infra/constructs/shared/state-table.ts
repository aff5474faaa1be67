import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

export interface StateTableProps {
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

  /** Allows actions on items whose partition key matches one of the patterns. @param actions without prefix: `GetItem` */
  allowItems(keys: readonly string[], ...actions: string[]): PolicyStatement {
    return new PolicyStatement({
      actions: actions.map((action) => `dynamodb:${action}`),
      resources: [this.tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys } },
    });
  }
}
