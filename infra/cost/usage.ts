import type { Usage } from './bill.ts';
import { findTaskSize, type Template, taskUsage } from './fixed-costs.ts';
import type { Traffic } from './traffic.ts';

/** A resource in the table. A write is paid by the kilobyte of the whole item, also where it only keeps it; a read by four. */
const RESOURCE_KB = 10;
const RESOURCE_READ_UNITS = Math.ceil(RESOURCE_KB / 4);

/** How much of everything a request takes, measured on one machine or counted in the code. */
const PER_REQUEST = {
  /** Seconds of a resolve, most of them waiting for the source. */
  resolveSeconds: 2.5,
  resolveGib: 2,
  /** Seconds and size of the other functions. */
  smallSeconds: 0.05,
  smallGib: 0.25,
  /** Looks at App and the count that come with a resolve. */
  smallCallsPerResolve: 2,
  /** Beside the resource itself: the link, the count, a use. */
  smallWritesPerResolve: 3,
  readsPerResolve: 4,
  readsPerStream: 2,
  /** Requests of one stream: players and downloaders ask by range. */
  requestsPerStream: 6,
  /** Of log and of table for one resolve, gigabytes. */
  logGb: 0.000004,
  tableGb: RESOURCE_KB / 1e6,
  /** Share of resolves that are traced. */
  tracedShare: 0.05,
} as const;

/** Metrics of its own that an instance writes as soon as it does anything. */
const CUSTOM_METRICS = 16;
/** Looks for newer tools, and for what runs, in a month. */
const TOOL_UPDATES_PER_MONTH = 61;
const GIB_SECONDS_PER_UPDATE = 20;
const RECONCILIATIONS_PER_MONTH = 4_380;
/** Writes to the key-value store for an hour of a task. */
const STORE_WRITES_PER_TASK_HOUR = 7;

/** What a month of traffic takes from a stack, beyond what stands there. */
export function trafficUsage(template: Template, traffic: Traffic): Usage[] {
  const resources = Object.values(template.Resources ?? {});
  const has = (type: string) => resources.some(({ Type }) => Type === type);
  const size = findTaskSize(resources);
  const { resolves, streams, gigabytes, extraTaskHours } = traffic;
  // One setting for both.
  const functionTime = size?.isArm ? 'functionTimeArm' : 'functionTimeX86';
  const small = resolves * PER_REQUEST.smallCallsPerResolve;
  const requests = resolves + small + streams * PER_REQUEST.requestsPerStream;
  const isOnDemand = has('AWS::CloudFront::KeyValueStore');

  return [
    [
      'functionRequests',
      (resolves + small + TOOL_UPDATES_PER_MONTH + (isOnDemand ? RECONCILIATIONS_PER_MONTH : 0)) / 1e6,
    ],
    [
      functionTime,
      resolves * PER_REQUEST.resolveSeconds * PER_REQUEST.resolveGib +
        small * PER_REQUEST.smallSeconds * PER_REQUEST.smallGib,
    ],
    [
      functionTime,
      TOOL_UPDATES_PER_MONTH * GIB_SECONDS_PER_UPDATE +
        (isOnDemand ? RECONCILIATIONS_PER_MONTH * PER_REQUEST.smallGib : 0),
    ],
    ['apiRequests', (resolves + small) / 1e6],
    ['tableWrites', (resolves * (RESOURCE_KB + PER_REQUEST.smallWritesPerResolve) + streams * RESOURCE_KB) / 1e6],
    [
      'tableReads',
      (resolves * PER_REQUEST.readsPerResolve + streams * PER_REQUEST.readsPerStream * RESOURCE_READ_UNITS) / 1e6,
    ],
    ['tableStorage', resolves * PER_REQUEST.tableGb],
    ...(hasPointInTimeRecovery(resources) ? ([['tableRecovery', resolves * PER_REQUEST.tableGb]] as const) : []),
    ['edgeTraffic', gigabytes],
    ['edgeRequests', requests / 1e6],
    ['edgeFunction', requests / 1e6],
    ...(isOnDemand
      ? ([
          ['edgeStoreReads', (streams * PER_REQUEST.requestsPerStream) / 1e6],
          ['edgeStoreWrites', (extraTaskHours * STORE_WRITES_PER_TASK_HOUR) / 1e3],
        ] as const)
      : []),
    ...(has('AWS::WAFv2::WebACL') ? ([['firewallRequests', requests / 1e6]] as const) : []),
    ...(has('AWS::ElasticLoadBalancingV2::LoadBalancer') ? ([['loadBalancerUnit', gigabytes]] as const) : []),
    ...(size ? taskUsage(size, extraTaskHours) : []),
    ['metrics', resolves > 0 ? CUSTOM_METRICS : 0],
    ['logs', resolves * PER_REQUEST.logGb],
    ['traces', (resolves * PER_REQUEST.tracedShare) / 1e6],
  ];
}

type Resources = readonly { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }[];

const hasPointInTimeRecovery = (resources: Resources): boolean =>
  JSON.stringify(resources.filter(({ Type }) => Type.startsWith('AWS::DynamoDB::'))).includes(
    '"PointInTimeRecoveryEnabled":true',
  );
