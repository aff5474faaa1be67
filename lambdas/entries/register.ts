import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { EC2Client } from '@aws-sdk/client-ec2';
import { ECSClient } from '@aws-sdk/client-ecs';
import middy from '@middy/core';
import { logContext } from '../middleware/index.ts';
import { createFunctionLog, createInvoker, required } from '../runtime/index.ts';
import {
  clientBounds,
  createHostStore,
  createPublicNames,
  createRegister,
  createStreamTasks,
  HOST_KEY,
  type RegisterEvent,
  WAKE_AHEAD,
} from '../stream-host/index.ts';

const read = (name: string) => required(process.env, name);
const INVOKE_TIMEOUT_MS = 2_000;

const log = createFunctionLog();
const invoker = createInvoker();
const wakeFunction = read('WAKE_FUNCTION');

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
  definition: read('TASK_DEFINITION'),
  wakeAhead: () => invoker.invokeAsync(wakeFunction, WAKE_AHEAD, AbortSignal.timeout(INVOKE_TIMEOUT_MS)),
  log,
});

/** Invoked by EventBridge for every state change of a task in the cluster, and by a schedule. */
export const handler = middy<RegisterEvent>().use(logContext(log)).handler(register);
