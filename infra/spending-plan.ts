import type { Profile } from './profiles.ts';
import type { DeploymentSettings } from './settings.ts';

/** The limits at which the cost guard closes the edge, in USD by list prices. */
export interface SpendingPlan {
  readonly hourlyCap: number;
  readonly dailyCap: number;
  readonly monthlyCap: number;
  /** USD a day at which the edge closes, so low that with spending that no metric shows yet the day ends below `BOUND` caps. */
  readonly closesAt: number;
  /** Whether CloudFront may cache streams. Only its delayed metrics tell how many bytes it sends from its cache. */
  readonly cachesStreams: boolean;
}

/** Upper bound of a day's spending, as a multiple of the cap. */
const BOUND = 1.2;
/** The download rate of all viewers together for which the guard is designed: 10 Gbit/s. */
const ATTACK_BYTES_PER_SECOND = 1.25e9;
/** Delay until metrics are available: those of CloudFront, and those of services in the region. */
const METRIC_DELAY_MINUTES = { edge: 5, region: 1 } as const;
/** The interval of the guard, and the time until its change takes effect. */
const REACTION_MINUTES = 2;

/** Minutes of use that the metrics do not show yet when the guard has closed the edge. */
export const UNSEEN_MINUTES = {
  edge: METRIC_DELAY_MINUTES.edge + REACTION_MINUTES,
  region: METRIC_DELAY_MINUTES.region + REACTION_MINUTES,
} as const;

/**
 * Streams are cached where a burst of cached bytes at the designed speed is small against the cap, or costs nothing by a flat
 * rate. Elsewhere every byte passes the stream service, which counts it before it is sent.
 */
export function spendingPlan(settings: DeploymentSettings, profile: Profile): SpendingPlan {
  const { dailyCap, hourlyCap, monthlyCap, resolverLimit, maxTasks } = profile;
  const { edgeByte, resolverSecond, taskMinute } = unitPrices(settings, profile);
  const ofHosts = UNSEEN_MINUTES.region * (60 * resolverLimit * resolverSecond + maxTasks * taskMinute);
  const ofCache = UNSEEN_MINUTES.edge * 60 * ATTACK_BYTES_PER_SECOND * edgeByte;
  const isCheap = settings.pricingPlan !== 'none' || BOUND * dailyCap - ofHosts - ofCache >= dailyCap / 2;
  // The on-demand host (`hobby`) has no cache: the pricing plans for it lack custom cache policies, and one task has little to cache.
  const cachesStreams = isCheap && profile.streamHost === 'balanced';
  const unseen = ofHosts + (cachesStreams && settings.pricingPlan === 'none' ? ofCache : 0);
  const closesAt = Math.min(dailyCap, Math.max(0, BOUND * dailyCap - unseen));
  return { hourlyCap, dailyCap, monthlyCap, closesAt, cachesStreams };
}

/**
 * List prices in USD before tax in us-east-1 of 2026-11-21; other regions differ by up to a third. A gigabyte is 10^9 bytes.
 */
const PRICES = {
  taskVcpuHour: { arm64: 0.03238, x86_64: 0.04048 },
  taskGibHour: { arm64: 0.00356, x86_64: 0.004445 },
  publicAddressHour: 0.005,
  /** 1 GB in an hour. */
  loadBalancerUnit: 0.008,
  functionGibSecond: { arm64: 0.0000133334, x86_64: 0.0000166667 },
  millionInvocations: 0.2,
  millionApiRequests: 1,
  millionTableWrites: 0.625,
  millionTableReads: 0.125,
  /** The first volume price, which is the highest, to North America and Europe. */
  edgeGb: 0.085,
  /** From viewers to an origin. */
  uploadGb: 0.02,
  millionEdgeRequests: 1,
  millionEdgeFunctionCalls: 0.1,
  millionEdgeStoreReads: 0.03,
  millionFirewallRequests: 0.6,
  millionBucketReads: 0.4,
  logGb: 0.5,
  millionTraces: 5,
} as const;

/** USD of one unit of use, by list prices, without the free allowances of the account, which it may use elsewhere. */
interface UnitPrices {
  /** A byte to a viewer, through the load balancer where there is one. */
  readonly edgeByte: number;
  /** A byte of a request's body, to an origin. */
  readonly uploadByte: number;
  /** A request of a viewer: CloudFront, the edge function, its reads, the firewall, and the bucket of the page where a file is missing. */
  readonly edgeRequest: number;
  /** A request of the function that wakes the stream host. */
  readonly wakeRequest: number;
  /** A second of one execution of the resolver. */
  readonly resolverSecond: number;
  /** What a resolve costs besides its seconds: invocation, table, log and traces. */
  readonly resolve: number;
  /** A request of the HTTP API, with the small function that answers it. */
  readonly apiRequest: number;
  /** A minute of one stream task. */
  readonly taskMinute: number;
}

/** Keys read by the edge function for a request, at most. */
const STORE_READS = 3;
/** Requests of the page call one for the request and one for the headers of the response. */
const EDGE_FUNCTION_CALLS = 2;
const GB = 1e9;
const GIB = 1024;
const MILLION = 1e6;

/** What a resolve uses besides the seconds of its function. */
const RESOLVE = { tableWrites: 13, tableReads: 4, logGb: 0.000004 } as const;
/** A request of a function that does not resolve: its own lines, those of Lambda and of the API, and the share that is traced. */
const SMALL_FUNCTION = { seconds: 0.05, gib: 0.25, tableReads: 3, logGb: 0.0000015, traced: 0.06 } as const;

/** The marginal costs of a deployment's traffic. */
export function unitPrices(
  { architecture, resolverMemory, pricingPlan }: DeploymentSettings,
  { streamHost, taskCpu, taskMemory, firewall }: Profile,
): UnitPrices {
  const isPlanned = pricingPlan !== 'none';
  const functionGibSecond = PRICES.functionGibSecond[architecture];
  const invocation = PRICES.millionInvocations / MILLION;
  const taskHour =
    (taskCpu / GIB) * PRICES.taskVcpuHour[architecture] +
    (taskMemory / GIB) * PRICES.taskGibHour[architecture] +
    PRICES.publicAddressHour;
  const edgeRequest =
    PRICES.millionEdgeRequests +
    EDGE_FUNCTION_CALLS * PRICES.millionEdgeFunctionCalls +
    STORE_READS * PRICES.millionEdgeStoreReads +
    PRICES.millionBucketReads +
    (firewall ? PRICES.millionFirewallRequests : 0);
  const smallFunction =
    invocation +
    SMALL_FUNCTION.seconds * SMALL_FUNCTION.gib * functionGibSecond +
    (SMALL_FUNCTION.tableReads * PRICES.millionTableReads + SMALL_FUNCTION.traced * PRICES.millionTraces) / MILLION +
    SMALL_FUNCTION.logGb * PRICES.logGb;
  return {
    uploadByte: isPlanned ? 0 : PRICES.uploadGb / GB,
    wakeRequest: smallFunction,
    edgeByte: ((isPlanned ? 0 : PRICES.edgeGb) + (streamHost === 'balanced' ? PRICES.loadBalancerUnit : 0)) / GB,
    edgeRequest: isPlanned ? 0 : edgeRequest / MILLION,
    resolverSecond: (resolverMemory / GIB) * functionGibSecond,
    resolve:
      invocation +
      (RESOLVE.tableWrites * PRICES.millionTableWrites +
        RESOLVE.tableReads * PRICES.millionTableReads +
        PRICES.millionTraces) /
        MILLION +
      RESOLVE.logGb * PRICES.logGb,
    apiRequest: PRICES.millionApiRequests / MILLION + smallFunction,
    taskMinute: taskHour / 60,
  };
}
