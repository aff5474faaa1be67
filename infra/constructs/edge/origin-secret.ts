import { CustomResource, Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { Deployment } from '../../config/index.ts';
import { allowItems, ServiceFunction } from '../shared/index.ts';

interface OriginSecretProps {
  readonly deployment: Deployment;
  readonly table: ITable;
}

/**
 * The secret header value by which origins recognize requests of the distribution: a custom resource and its function,
 * which generates a value for each rotation and keeps the current and the previous one in the table.
 */
export class OriginSecret extends CustomResource {
  constructor(scope: Construct, id: string, { deployment, table }: OriginSecretProps) {
    const maker = new ServiceFunction(scope, `${id}Maker`, {
      deployment,
      name: 'origin-secret',
      // The last ten seconds are for the response.
      timeout: Duration.seconds(30),
      environment: { TABLE_NAME: table.tableName },
      permissions: [allowItems(table, ['origin-secret'], 'GetItem', 'PutItem')],
    });
    super(scope, id, {
      serviceToken: maker.functionArn,
      resourceType: 'Custom::OriginSecret',
      serviceTimeout: Duration.minutes(2),
      properties: { rotation: deployment.settings.originSecretRotation ?? 'initial' },
    });
    this.node.addDependency(maker);
  }

  /** The value that the distribution sends. */
  get sent(): string {
    return this.getAttString('Secret');
  }

  /** Comma list of the values that origins accept. */
  get accepted(): string {
    return this.getAttString('Accepted');
  }

  /** Changes with the accepted values. */
  get revision(): string {
    return this.getAttString('Revision');
  }
}
