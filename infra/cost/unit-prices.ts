import type { DeploymentSettings, Profile } from '../config/index.ts';
import { METERS, type MeterName } from './prices.ts';
import { PER_REQUEST } from './usage.ts';

/** USD of one unit of use, by list prices: free allowances are of the account, which may use them elsewhere. */
export interface UnitPrices {
  /** A byte to a viewer, through the load balancer where there is one. */
  readonly edgeByte: number;
  /** A request of a viewer: CloudFront, the edge function, its reads, and the firewall. */
  readonly edgeRequest: number;
  /** A second of one execution of the resolver. */
  readonly resolverSecond: number;
  /** What a resolve costs besides its seconds: invocation, table, log and traces. */
  readonly resolve: number;
  /** A request of the HTTP API, with the small function that answers it. */
  readonly apiRequest: number;
  /** A minute of one stream task. 0: a Web Function, whose prices are not published. */
  readonly taskMinute: number;
}

/** Keys read by the edge function for a request, at most. */
const STORE_READS = 3;
const GB = 1e9;
const GIB = 1024;
const MILLION = 1e6;

/** What the traffic of a deployment costs at the margin. */
export function unitPrices(
  { architecture, resolverMemory, pricingPlan }: DeploymentSettings,
  { streamHost, taskCpu, taskMemory, firewall }: Profile,
): UnitPrices {
  const isArm = architecture === 'arm64';
  const isPlanned = pricingPlan !== 'none';
  const functionSecond = (mb: number) => (mb / GIB) * priceOf(isArm ? 'functionTimeArm' : 'functionTimeX86');
  const invocation = priceOf('functionRequests') / MILLION;
  const { smallSeconds, smallGib, readsPerResolve, smallWritesPerResolve, logGb } = PER_REQUEST;
  const taskHour =
    (taskCpu / GIB) * priceOf(isArm ? 'taskVcpuArm' : 'taskVcpuX86') +
    (taskMemory / GIB) * priceOf(isArm ? 'taskMemoryArm' : 'taskMemoryX86') +
    priceOf('publicAddress');
  const edgeRequest =
    priceOf('edgeRequests') +
    priceOf('edgeFunction') +
    STORE_READS * priceOf('edgeStoreReads') +
    (firewall ? priceOf('firewallRequests') : 0);
  return {
    edgeByte: ((isPlanned ? 0 : edgePrice()) + (streamHost === 'balanced' ? priceOf('loadBalancerUnit') : 0)) / GB,
    edgeRequest: isPlanned ? 0 : edgeRequest / MILLION,
    resolverSecond: functionSecond(resolverMemory),
    resolve:
      invocation +
      ((RESOURCE_KB + smallWritesPerResolve) * priceOf('tableWrites') +
        readsPerResolve * priceOf('tableReads') +
        priceOf('traces')) /
        MILLION +
      logGb * priceOf('logs'),
    apiRequest: priceOf('apiRequests') / MILLION + invocation + smallSeconds * functionSecond(smallGib * GIB),
    taskMinute: streamHost === 'web-function' ? 0 : taskHour / 60,
  };
}

const RESOURCE_KB = 10;

const priceOf = (name: MeterName): number => METERS[name].price ?? 0;

/** The first volume price, which is the highest. */
const edgePrice = (): number => METERS.edgeTraffic.tiers[0].price;
