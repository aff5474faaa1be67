import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { EC2Client } from '@aws-sdk/client-ec2';
import { ECSClient } from '@aws-sdk/client-ecs';
import type { Context } from 'aws-lambda';
import { required } from '../function-environment.ts';
import { clientBounds } from '../on-demand/client-bounds.ts';
import { createHostStore } from '../on-demand/host-store.ts';
import { createPublicNames } from '../on-demand/public-names.ts';
import { HOST_KEY } from '../on-demand/registration.ts';
import { createStreamTasks } from '../on-demand/stream-tasks.ts';
import { createFunctionLog } from '../powertools/log.ts';
import { createRegister, type RegisterEvent } from '../register.ts';

const read = (name: string) => required(process.env, name);
const log = createFunctionLog();

const register = createRegister({
  tasks: createStreamTasks({
    ecs: new ECSClient(clientBounds),
    cluster: read('CLUSTER'),
    family: read('TASK_FAMILY'),
  }),
  publicNames: createPublicNames(new EC2Client(clientBounds)),
  store: createHostStore({
    client: new CloudFrontKeyValueStoreClient(clientBounds),
    storeArn: read('KEY_VALUE_STORE_ARN'),
    key: HOST_KEY,
  }),
  log,
});

/** Called by EventBridge: when a task of the cluster changes, and every few minutes. */
export const handler = (event: RegisterEvent, context: Context) => {
  log.addContext(context);
  return register(event);
};
