import type { Log } from '../../core/log/index.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { AwsCall } from './query-api.ts';

/** Requests that an HTTP API admits, in a second and in a burst. */
export interface Rates {
  readonly throttlingRateLimit: number;
  readonly throttlingBurstLimit: number;
}

export interface ApiThrottleOptions {
  readonly call: AwsCall;
  readonly region: string;
  readonly apiId: string;
  /** While open, as deployed: of all routes together, and of each that resolves. */
  readonly rates: { readonly all: Rates; readonly resolves: Rates };
  readonly log: Log;
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

/**
 * The throttle of the HTTP API, whose own host name leads past the closed edge: what it refuses is not billed. A failure is
 * logged, since the rest must be closed nevertheless, and the next minute tries again.
 */
export function createApiThrottle({ call, region, apiId, rates, log }: ApiThrottleOptions): ConcurrencyLimit {
  const stage = { service: 'apigateway', region, path: `/v2/apis/${apiId}/stages/%24default` };
  const contentType = 'application/json';
  return {
    async apply(isClosed) {
      const [all, resolves] = isClosed ? [CLOSED, CLOSED] : [rates.all, rates.resolves];
      try {
        const found = JSON.parse(await call({ ...stage, name: 'GetStage', method: 'GET', contentType })) as Stage;
        const routes = Object.entries(found.routeSettings ?? {});
        if (isAt(found.defaultRouteSettings, all) && routes.every(([, settings]) => isAt(settings, resolves))) return;
        const body = JSON.stringify({
          defaultRouteSettings: { ...found.defaultRouteSettings, ...all },
          routeSettings: Object.fromEntries(routes.map(([route, settings]) => [route, { ...settings, ...resolves }])),
        });
        await call({ ...stage, name: 'UpdateStage', method: 'PATCH', contentType, body });
      } catch (error) {
        log.error('Failed to set the throttle of the API', { error });
      }
    },
  };
}
