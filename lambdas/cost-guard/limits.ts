import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionConcurrencyCommand,
  type LambdaClient,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda';
import type { Log } from '../../core/log/index.ts';
import type { AwsCall } from '../aws-call.ts';
import { type HostService, type HostStore, registrationOf } from '../stream-host/index.ts';

interface ConcurrencyLimitOptions {
  readonly lambda: LambdaClient;
  readonly functionName: string;
  /** Executions at once while the edge is open. */
  readonly limit: number;
  readonly log: Log;
}

/** Makes something what it is while the edge is closed, or open. Does nothing where it is that already. */
export type Limit = (isClosed: boolean) => Promise<void>;

/**
 * The reserved concurrency of a function: 0 while closed. Lambda requires that 100 executions of an account stay unreserved. A new account
 * has ten: its quota bounds the function instead, and the function can still be closed, because 0 reserves nothing.
 */
export function createConcurrencyLimit({ lambda, functionName, limit, log }: ConcurrencyLimitOptions): Limit {
  const FunctionName = functionName;
  let isRefused = false;

  /** @returns false where the account's quota does not permit it */
  const reserve = async (ReservedConcurrentExecutions: number): Promise<boolean> => {
    try {
      await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions }));
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === 'InvalidParameterValueException') return false;
      throw error;
    }
  };

  return async (isClosed) => {
    const wanted = isClosed ? 0 : limit;
    const found = await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }));
    const current = found.ReservedConcurrentExecutions;
    if (current === wanted || ((isClosed || !isRefused) && (await reserve(wanted)))) return;
    if (isClosed) {
      // Environments that are kept initialized need reserved executions. No request reaches them while the edge is closed.
      log.warn('The function is not closed: some of its environments are kept initialized', { functionName });
      return;
    }
    if (!isRefused) log.warn("The account's quota is too small to reserve executions", { functionName, limit });
    isRefused = true;
    if (current === 0) await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
  };
}

/** Executions that stay reserved while closed. */
export function createReservation(options: ConcurrencyLimitOptions): Limit {
  const limit = createConcurrencyLimit(options);
  return () => limit(false);
}

interface HostLimitOptions {
  readonly service: Pick<HostService, 'isWanted' | 'stop'>;
  /** The registration that the edge reads. */
  readonly store: Pick<HostStore, 'write'>;
}

/** Stops the on-demand stream host while closed: afterwards the next stream wakes it. */
export const createHostLimit =
  ({ service, store }: HostLimitOptions): Limit =>
  async (isClosed) => {
    if (!isClosed || !(await service.isWanted())) return;
    await store.write(undefined);
    await service.stop();
  };

/** A task that starts at all has registered by then. */
const MAX_START_SECONDS = 15 * 60;

interface HostWatchOptions {
  readonly service: Pick<HostService, 'isWanted' | 'stop'>;
  /** The registration that the edge reads. */
  readonly store: Pick<HostStore, 'read'>;
  readonly tell: (subject: string, text: string) => Promise<unknown>;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/**
 * Stops an on-demand stream host that does not come up, such as one whose image cannot be pulled: ECS would try again, and bill each
 * attempt, for ever. Only the task itself stops the service otherwise. A read of the store is billed, so it is read when a task must
 * have registered, and then when its registration ends.
 * @returns a limit whose times are of this process: where AWS replaces it, they begin again
 */
export function createHostWatch({ service, store, tell, now = Date.now }: HostWatchOptions): Limit {
  let readAt: number | undefined;
  return async () => {
    const seconds = now() / 1000;
    if (!(await service.isWanted())) {
      readAt = undefined;
      return;
    }
    readAt ??= seconds + MAX_START_SECONDS;
    if (seconds < readAt) return;
    const registration = registrationOf(await store.read(), seconds);
    if (registration) {
      readAt = registration.expiresAt;
      return;
    }
    await service.stop();
    readAt = undefined;
    await tell(
      'Reelay: the stream host does not start',
      'It was wanted for 15 minutes, and no task is registered. It is stopped until the next stream. The events of its ECS service say why: an image that cannot be pulled, a task that ends, or a quota.',
    );
  };
}

/** Requests that an HTTP API admits, in a second and in a burst. */
interface Rates {
  readonly throttlingRateLimit: number;
  readonly throttlingBurstLimit: number;
}

interface ApiThrottleOptions {
  readonly call: AwsCall;
  readonly region: string;
  readonly apiId: string;
  /** While open, as deployed: of all routes together, and of each that resolves. */
  readonly rates: { readonly all: Rates; readonly resolves: Rates };
}

/** The parts of a stage that are read. */
interface Stage {
  readonly defaultRouteSettings?: Partial<Rates>;
  readonly routeSettings?: Readonly<Record<string, Partial<Rates>>>;
}

const CLOSED: Rates = { throttlingRateLimit: 0, throttlingBurstLimit: 0 };
const isAt = (settings: Partial<Rates> | undefined, rates: Rates): boolean =>
  settings?.throttlingRateLimit === rates.throttlingRateLimit &&
  settings.throttlingBurstLimit === rates.throttlingBurstLimit;

/** The throttle of the HTTP API. Requests to its own host name bypass the closed edge; those that it refuses are not billed. */
export function createApiThrottle({ call, region, apiId, rates }: ApiThrottleOptions): Limit {
  const stage = {
    service: 'apigateway',
    region,
    path: `/v2/apis/${apiId}/stages/%24default`,
    headers: { 'content-type': 'application/json' },
  };
  return async (isClosed) => {
    const [all, resolves] = isClosed ? [CLOSED, CLOSED] : [rates.all, rates.resolves];
    const { text } = await call({ ...stage, name: 'GetStage', method: 'GET' });
    const found = JSON.parse(text) as Stage;
    const routes = Object.entries(found.routeSettings ?? {});
    if (isAt(found.defaultRouteSettings, all) && routes.every(([, settings]) => isAt(settings, resolves))) return;
    const body = JSON.stringify({
      defaultRouteSettings: { ...found.defaultRouteSettings, ...all },
      routeSettings: Object.fromEntries(routes.map(([route, settings]) => [route, { ...settings, ...resolves }])),
    });
    await call({ ...stage, name: 'UpdateStage', method: 'PATCH', body });
  };
}
