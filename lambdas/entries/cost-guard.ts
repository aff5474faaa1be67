import { LambdaClient } from '@aws-sdk/client-lambda';
import middy from '@middy/core';
import { optional, readVariables, required, wholeNumber } from '../../core/config/index.ts';
import type { GuardEvent, WatchedMetric } from '../../core/spending/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createAwsCall, query } from '../aws-call.ts';
import {
  CLOSED_KEY,
  createApiThrottle,
  createConcurrencyLimit,
  createCostGuard,
  createEdgeSwitch,
  createHostLimit,
  createHostWatch,
  createMetricReader,
  createReservation,
} from '../cost-guard/index.ts';
import { createFunctionLog, logContext } from '../function-environment.ts';
import { clientBounds, createHostService, createHostStore, HOST_KEY } from '../stream-host/index.ts';

const log = createFunctionLog();
const {
  tableName,
  storeArn,
  resolver,
  limit,
  apiId,
  ownName,
  distributionId,
  wake,
  cluster,
  serviceName,
  plan,
  topic,
  region,
  endpoint,
} = readVariables(process.env, {
  tableName: required('TABLE_NAME'),
  storeArn: required('KEY_VALUE_STORE_ARN'),
  resolver: required('RESOLVER_FUNCTION'),
  limit: optional('RESOLVER_LIMIT', 1, wholeNumber(1, 10_000)),
  apiId: required('API_ID'),
  ownName: required('AWS_LAMBDA_FUNCTION_NAME'),
  distributionId: required('DISTRIBUTION_ID'),
  wake: optional('WAKE_FUNCTION'),
  cluster: optional('CLUSTER', ''),
  serviceName: optional('SERVICE', ''),
  /** JSON: the metrics and the caps. */
  plan: required('SPENDING_PLAN'),
  topic: optional('ALARM_TOPIC'),
  region: required('AWS_REGION'),
  endpoint: optional('AWS_ENDPOINT_URL'),
});
const state = createState({ storage: createDynamoDbStorage({ tableName }), log });
const lambda = new LambdaClient(clientBounds);
const call = createAwsCall(lambda.config, endpoint);

/** What the stack passes as JSON. */
interface SpendingPlan {
  readonly metrics: readonly WatchedMetric[];
  readonly hourlyCap: number;
  readonly dailyCap: number;
  readonly monthlyCap: number;
  readonly closesAt: number;
  /** What the API admits. */
  readonly rates: Parameters<typeof createApiThrottle>[0]['rates'];
}

/** Wake-ups first: afterwards nothing starts the host that is stopped. */
const limitsOfHost = (functionName: string) => {
  const host = {
    service: createHostService({ cluster, service: serviceName }),
    store: createHostStore({ storeArn, key: HOST_KEY }),
  };
  const tell = async (subject: string, text: string) => {
    log.error(subject, { text });
    await notify?.(subject, text);
  };
  return [
    createConcurrencyLimit({ lambda, functionName, limit: RESERVED.wake, log }),
    createHostLimit(host),
    createHostWatch({ ...host, tell }),
  ];
};

/**
 * Executions at once, where the account's quota permits: others must not take those of the guard (one that the schedule starts, and
 * one by hand), nor wake-ups, whose URL admits any number of requests, those of everything else.
 */
const RESERVED = { own: 2, wake: 10 };

const { metrics, hourlyCap, dailyCap, monthlyCap, closesAt, rates } = JSON.parse(plan) as SpendingPlan;

const notify = topic
  ? (Subject: string, Message: string) =>
      query(
        call,
        { name: 'Publish', service: 'sns', region },
        { Version: '2010-03-31', TopicArn: topic, Subject, Message },
      )
  : undefined;
const guard = createCostGuard({
  watched: metrics,
  caps: { hour: hourlyCap, day: dailyCap, month: monthlyCap },
  closesAt,
  readMetric: createMetricReader(call, region),
  state,
  flag: createHostStore({ storeArn, key: CLOSED_KEY }),
  switchEdge: createEdgeSwitch({ call, distributionId }),
  limits: [
    createConcurrencyLimit({ lambda, functionName: resolver, limit, log }),
    createApiThrottle({ call, region, apiId, rates }),
    ...(wake ? limitsOfHost(wake) : []),
    createReservation({ lambda, functionName: ownName, limit: RESERVED.own, log }),
  ],
  notify,
  log,
});

/** Invoked each minute by a schedule, and by hand with `{"open":true}`. */
export const handler = middy<GuardEvent>().use(logContext(log)).handler(guard);
