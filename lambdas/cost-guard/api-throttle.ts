import type { AwsCall } from './aws-call.ts';
import type { Limit } from './concurrency-limit.ts';

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
