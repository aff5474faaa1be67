import { CfnOutput, CustomResource, Duration, Stack } from 'aws-cdk-lib';
import type { KeyValueStore } from 'aws-cdk-lib/aws-cloudfront';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import type { Deployment } from '../../profiles.ts';
import { allow, allowItems, allowKeys } from '../conventions.ts';
import { ServiceFunction } from '../service-function.ts';

interface AccessKeysProps {
  readonly deployment: Deployment;
  /** The store that the edge function reads. */
  readonly keyValueStore: KeyValueStore;
  /** Secret with the access keys. */
  readonly secretArn: string;
}

/** After a change of the secret, its keys apply within this time and the replication of the store, which takes seconds. */
const SYNC_INTERVAL = Duration.minutes(4);

/** The access keys of a private instance: a function copies their hashes from the secret into the edge's key-value store. */
export class AccessKeys extends Construct {
  readonly function: ServiceFunction;
  /** Complete when the store holds the hashes: without them the edge admits no request. */
  readonly applied: CustomResource;

  constructor(scope: Construct, id: string, { deployment, keyValueStore, secretArn }: AccessKeysProps) {
    super(scope, id);
    this.function = new ServiceFunction(this, 'Sync', {
      deployment,
      name: 'access-keys',
      timeout: Duration.minutes(1),
      environment: { ACCESS_KEYS_SECRET: secretArn, KEY_VALUE_STORE_ARN: keyValueStore.keyValueStoreArn },
      permissions: [
        ...allow(['secretsmanager:GetSecretValue'], secretArn),
        ...allowKeys(keyValueStore.keyValueStoreArn, 'ListKeys', 'UpdateKeys'),
      ],
    });
    // A secret without valid keys fails the deployment, with the reason.
    const synced = new CustomResource(this, 'Synced', {
      serviceToken: this.function.functionArn,
      resourceType: 'Custom::AccessKeys',
      serviceTimeout: Duration.minutes(3),
      // Another stream host brings another store, which is empty.
      properties: { secret: secretArn, store: keyValueStore.keyValueStoreArn },
    });
    this.applied = synced;
    synced.node.addDependency(this.function);
    this.function
      .invokeEvery(SYNC_INTERVAL, 'Schedule', 'Copies the hashes of the access keys to the edge')
      .node.addDependency(synced);
    new CfnOutput(this, 'Command', {
      key: 'SyncAccessKeysCommand',
      description: 'Applies changed access keys now',
      value: `aws lambda invoke --region ${Stack.of(this).region} --function-name ${this.function.functionName} --payload '{}' --cli-binary-format raw-in-base64-out /dev/stdout`,
    });
  }
}

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
      // Another table has no secret yet.
      properties: { rotation: deployment.settings.originSecretRotation ?? 'initial', table: table.tableName },
    });
    this.node.addDependency(maker);
  }

  /** The value that the distribution sends. */
  get sent(): string {
    return this.getAttString('Secret');
  }
}
