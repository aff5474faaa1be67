import { ECSClient } from '@aws-sdk/client-ecs';
import middy from '@middy/core';
import { optional, readVariables, required } from '../../core/config/index.ts';
import type { HostEvent } from '../../core/http/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createAwsCall } from '../aws-call.ts';
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
const { cluster, serviceName, securityGroup, storeArn, region, endpoint } = readVariables(process.env, {
  cluster: required('CLUSTER'),
  serviceName: required('SERVICE'),
  securityGroup: required('SECURITY_GROUP'),
  storeArn: required('KEY_VALUE_STORE_ARN'),
  region: required('AWS_REGION'),
  endpoint: optional('AWS_ENDPOINT_URL'),
});
const ecs = new ECSClient(clientBounds);
const state = createState({ storage: createDynamoDbStorage({ tableName }), log });
const service = createHostService({ ecs, cluster, service: serviceName });
const onHostEvent = createOnHostEvent({
  service,
  store: createHostStore({ storeArn, key: HOST_KEY }),
  publicName: createPublicName({ call: createAwsCall(ecs.config, endpoint), region, securityGroup }),
  log,
});

/** Behind a function URL for streams, and invoked by the task and by the functions that expect a stream soon. */
export const handler = routeEvent({
  http: createWakeOnStream({ state, service, origins, log, middleware: [logContext(log)] }),
  direct: middy<HostEvent>().use(logContext(log)).handler(onHostEvent),
});
