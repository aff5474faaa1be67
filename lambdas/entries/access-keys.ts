import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda';
import { readVariables, required } from '../../core/config/index.ts';
import {
  ACCESS_KEY_PREFIX,
  createKeyStore,
  removeAccessKeys,
  type SyncOutcome,
  syncAccessKeys,
} from '../access-keys/index.ts';
import { createFunctionLog, customResource } from '../runtime/index.ts';

const log = createFunctionLog();
const secrets = new SecretsManagerClient({ maxAttempts: 3 });
const { SecretId, storeArn } = readVariables(process.env, {
  SecretId: required('ACCESS_KEYS_SECRET'),
  storeArn: required('KEY_VALUE_STORE_ARN'),
});
const options = {
  readSecret: async () => (await secrets.send(new GetSecretValueCommand({ SecretId }))).SecretString,
  store: createKeyStore({
    client: new CloudFrontKeyValueStoreClient({ maxAttempts: 3 }),
    storeArn,
    prefix: ACCESS_KEY_PREFIX,
  }),
  log,
};

const provide = async () => {
  await syncAccessKeys(options);
  return { physicalId: 'access-keys' };
};
const resource = customResource({ create: provide, update: provide, delete: () => removeAccessKeys(options), log });

/** Custom resource, on a schedule, and on demand with any other event: copies the hashes of the access keys to the edge. */
export const handler = async (
  event: CloudFormationCustomResourceEvent | Readonly<Record<string, unknown>>,
  context: Context,
): Promise<SyncOutcome | undefined> => {
  if (!('ResponseURL' in event)) return syncAccessKeys(options);
  await resource(event as CloudFormationCustomResourceEvent, context);
  return undefined;
};
