import { EC2Client } from '@aws-sdk/client-ec2';
import middy from '@middy/core';
import { readVariables, required } from '../../core/config/index.ts';
import type { HostEvent } from '../../core/http/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createFunctionLog, logContext, readFunctionEnvironment } from '../function-environment.ts';
import { routeEvent } from '../http-handler.ts';
import {
  clientBounds,
  createHostService,
  createHostStore,
  createOnHostEvent,
  createPublicName,
  createWakeOnStream,
  HOST_KEY,
} from '../stream-host/index.ts';

const log = createFunctionLog();
const { tableName, origins } = readFunctionEnvironment(process.env);
const { cluster, serviceName, securityGroup, storeArn } = readVariables(process.env, {
  cluster: required('CLUSTER'),
  serviceName: required('SERVICE'),
  securityGroup: required('SECURITY_GROUP'),
  storeArn: required('KEY_VALUE_STORE_ARN'),
});
const state = createState({ storage: createDynamoDbStorage({ tableName }), log });
const service = createHostService({ cluster, service: serviceName });
const onHostEvent = createOnHostEvent({
  service,
  store: createHostStore({ storeArn, key: HOST_KEY }),
  publicName: createPublicName(new EC2Client(clientBounds), securityGroup),
  log,
});

/** Behind a function URL for streams, and invoked by the task and by the functions that expect a stream soon. */
export const handler = routeEvent({
  http: createWakeOnStream({ state, service, origins, log, middleware: [logContext(log)] }),
  direct: middy<HostEvent>().use(logContext(log)).handler(onHostEvent),
});
