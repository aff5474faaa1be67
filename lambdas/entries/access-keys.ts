import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import type { CloudFormationCustomResourceEvent, Context } from 'aws-lambda';
import { fetchSecret, readVariables, required } from '../../core/config/index.ts';
import { ACCESS_KEY_PREFIX, createKeyStore, removeAccessKeys, syncAccessKeys } from '../access-keys.ts';
import { customResource } from '../custom-resource.ts';
import { createFunctionLog } from '../function-environment.ts';

const log = createFunctionLog();
const { secretArn, storeArn } = readVariables(process.env, {
  secretArn: required('ACCESS_KEYS_SECRET'),
  storeArn: required('KEY_VALUE_STORE_ARN'),
});
const options = {
  readSecret: () => fetchSecret(secretArn),
  store: createKeyStore({
    client: new CloudFrontKeyValueStoreClient({ maxAttempts: 3 }),
    storeArn,
    prefix: ACCESS_KEY_PREFIX,
  }),
  log,
};

const resource = customResource({
  physicalId: 'access-keys',
  provide: () => syncAccessKeys(options).then(() => ({})),
  remove: () => removeAccessKeys(options),
  log,
});

/** Custom resource, on a schedule, and on demand with any other event: copies the hashes of the access keys to the edge. */
export const handler = async (
  event: CloudFormationCustomResourceEvent | Readonly<Record<string, unknown>>,
  context: Context,
): Promise<unknown> => {
  if (!('ResponseURL' in event)) return syncAccessKeys(options);
  return resource(event as CloudFormationCustomResourceEvent, context);
};
