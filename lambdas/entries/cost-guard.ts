import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { LambdaClient } from '@aws-sdk/client-lambda';
import middy from '@middy/core';
import { optional, readVariables, required, wholeNumber } from '../../core/config/index.ts';
import type { WatchedMetric } from '../../core/spending/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import {
  CLOSED_KEY,
  createApiThrottle,
  createAwsCall,
  createConcurrencyLimit,
  createCostGuard,
  createEdgeFlag,
  createMetricReader,
  createQueryApi,
  type GuardEvent,
} from '../cost-guard/index.ts';
import { createFunctionLog, logContext } from '../runtime/index.ts';
import { clientBounds, createHostStore } from '../stream-host/index.ts';

const log = createFunctionLog();
const { tableName, storeArn, resolver, limit, apiId, ownName, wake, plan, topic, region, endpoint, ...keys } =
  readVariables(process.env, {
    tableName: required('TABLE_NAME'),
    storeArn: required('KEY_VALUE_STORE_ARN'),
    resolver: required('RESOLVER_FUNCTION'),
    limit: optional('RESOLVER_LIMIT', 1, wholeNumber(1, 10_000)),
    apiId: required('API_ID'),
    ownName: required('AWS_LAMBDA_FUNCTION_NAME'),
    wake: optional('WAKE_FUNCTION'),
    /** JSON: the metrics and the caps. */
    plan: required('SPENDING_PLAN'),
    topic: optional('ALARM_TOPIC'),
    region: required('AWS_REGION'),
    endpoint: optional('AWS_ENDPOINT_URL'),
    accessKeyId: optional('AWS_ACCESS_KEY_ID', ''),
    secretAccessKey: optional('AWS_SECRET_ACCESS_KEY', ''),
    sessionToken: optional('AWS_SESSION_TOKEN'),
  });
const state = createState({ storage: createDynamoDbStorage({ tableName }), log });
const lambda = new LambdaClient(clientBounds);
const callAws = createAwsCall({ credentials: keys, endpoint });
const call = createQueryApi(callAws);

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

function createGuard() {
  const { metrics, hourlyCap, dailyCap, monthlyCap, closesAt, rates } = JSON.parse(plan) as SpendingPlan;
  return createCostGuard({
    watched: metrics,
    caps: { hour: hourlyCap, day: dailyCap, month: monthlyCap },
    closesAt,
    readMetric: createMetricReader(call, region),
    state,
    flag: createEdgeFlag(
      storeArn,
      createHostStore({ client: new CloudFrontKeyValueStoreClient(clientBounds), storeArn, key: CLOSED_KEY }),
    ),
    limits: [
      createConcurrencyLimit({ lambda, functionName: resolver, limit, log }),
      createApiThrottle({ call: callAws, region, apiId, rates, log }),
    ],
    reservations: [
      createConcurrencyLimit({ lambda, functionName: ownName, limit: RESERVED.own, log }),
      ...(wake ? [createConcurrencyLimit({ lambda, functionName: wake, limit: RESERVED.wake, log })] : []),
    ],
    notify: topic
      ? (Subject, Message) =>
          call({
            service: 'sns',
            region,
            parameters: { Action: 'Publish', Version: '2010-03-31', TopicArn: topic, Subject, Message },
          })
      : undefined,
    log,
  });
}

/**
 * Executions at once, where the account's quota permits: others must not take those of the guard (one that the schedule starts, and
 * one by hand), nor wake-ups, whose URL admits any number of requests, those of everything else.
 */
const RESERVED = { own: 2, wake: 10 };

let guard: ReturnType<typeof createGuard> | undefined;

/** Invoked each minute by a schedule, and by hand with `{"open":true}`. */
export const handler = middy<GuardEvent>()
  .use(logContext(log))
  .handler((event) => {
    guard ??= createGuard();
    return guard(event);
  });
