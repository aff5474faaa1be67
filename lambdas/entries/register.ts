import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { EC2Client } from '@aws-sdk/client-ec2';
import { ECSClient } from '@aws-sdk/client-ecs';
import type { Context } from 'aws-lambda';
import { createFunctionLog, createInvoker, required } from '../runtime/index.ts';
import {
  type AheadEvent,
  clientBounds,
  createHostStore,
  createPublicNames,
  createRegister,
  createStreamTasks,
  HOST_KEY,
  type RegisterEvent,
} from '../stream-host/index.ts';

const read = (name: string) => required(process.env, name);
/** Milliseconds in which the one that wakes is told. */
const PATIENCE = 2_000;

const log = createFunctionLog();
const invoker = createInvoker();
const wakeFunction = read('WAKE_FUNCTION');
const ahead: AheadEvent = { kind: 'ahead' };

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
  wakeAhead: () => invoker.tell(wakeFunction, ahead, AbortSignal.timeout(PATIENCE)),
  log,
});

/** Called by EventBridge: when a task of the cluster changes, and every few minutes. */
export const handler = (event: RegisterEvent, context: Context) => {
  log.addContext(context);
  return register(event);
};
