import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { EC2Client } from '@aws-sdk/client-ec2';
import { ECSClient } from '@aws-sdk/client-ecs';
import middy from '@middy/core';
import { readVariables, required } from '../../core/config/index.ts';
import { createFunctionLog, createInvoker, logContext } from '../runtime/index.ts';
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

const INVOKE_TIMEOUT_MS = 2_000;

const log = createFunctionLog();
const invoker = createInvoker();
const { wakeFunction, cluster, family, definition, storeArn } = readVariables(process.env, {
  wakeFunction: required('WAKE_FUNCTION'),
  cluster: required('CLUSTER'),
  family: required('TASK_FAMILY'),
  definition: required('TASK_DEFINITION'),
  storeArn: required('KEY_VALUE_STORE_ARN'),
});

const register = createRegister({
  tasks: createStreamTasks({
    ecs: new ECSClient(clientBounds),
    cluster,
    family,
  }),
  publicNames: createPublicNames(new EC2Client(clientBounds)),
  store: createHostStore({
    client: new CloudFrontKeyValueStoreClient(clientBounds),
    storeArn,
    key: HOST_KEY,
  }),
  definition,
  wakeAhead: () => invoker.invokeAsync(wakeFunction, WAKE_AHEAD, AbortSignal.timeout(INVOKE_TIMEOUT_MS)),
  log,
});

/** Invoked by EventBridge for every state change of a task in the cluster, and by a schedule. */
export const handler = middy<RegisterEvent>().use(logContext(log)).handler(register);
