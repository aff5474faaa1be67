import type { Usage } from './bill.ts';
import { findTaskSize, type Template, taskUsage } from './fixed-costs.ts';
import { HOURS_PER_MONTH } from './prices.ts';
import type { Traffic } from './traffic.ts';

/** Size of a resource item. Writes are billed per kilobyte of the whole item, reads per four. */
const RESOURCE_KB = 10;
const RESOURCE_READ_UNITS = Math.ceil(RESOURCE_KB / 4);

/** Usage per request, measured on one machine or counted in the code. */
export const PER_REQUEST = {
  /** Duration of a resolve, mostly waiting for the source. */
  resolveSeconds: 2.5,
  resolveGib: 2,
  /** Duration and memory of the other functions. */
  smallSeconds: 0.05,
  smallGib: 0.25,
  /** Requests of /api/App and the count that come with a resolve. */
  smallCallsPerResolve: 2,
  /** Writes beside the resource itself: the link, the count, the expiry. */
  smallWritesPerResolve: 3,
  readsPerResolve: 4,
  readsPerStream: 2,
  /** HTTP requests per stream: players and downloaders use ranges. */
  requestsPerStream: 6,
  /** Log and table storage per resolve, gigabytes. */
  logGb: 0.000004,
  tableGb: RESOURCE_KB / 1e6,
} as const;

/** X-Ray's default sampling: the first request of a second, and this share of the others. */
const TRACED_SHARE = 0.05;
const SECONDS_PER_MONTH = HOURS_PER_MONTH * 3_600;
/** From RunTask, at which billing begins, until an on-demand task serves. */
const TASK_START_MINUTES = 1;

/** A stream function serves one client at a time: measured processor time for an HTTPS source, and resident memory. */
const CPU_SECONDS_PER_GIGABYTE = 2;
const STREAM_FUNCTION_GIB = 0.3;
const CLIENT_MBIT_PER_SECOND = 20;

/** Custom metrics of an instance with traffic. */
const CUSTOM_METRICS = 16;
const TOOL_UPDATES_PER_MONTH = 61;
const GIB_SECONDS_PER_UPDATE = 20;
const RECONCILIATIONS_PER_MONTH = 4_380;
const STORE_WRITES_PER_TASK_HOUR = 7;

/** Usage that a month of traffic causes, in addition to the fixed usage of the stack. */
export function trafficUsage(template: Template, traffic: Traffic): Usage[] {
  const resources = Object.values(template.Resources ?? {});
  const has = (type: string) => resources.some(({ Type }) => Type === type);
  const size = findTaskSize(resources);
  const { resolves, streams, gigabytes } = traffic;
  const extraTaskHours = traffic.extraTaskHours + awakeHours(traffic.visitsPerDay, findIdleMinutes(resources));
  const functionTime = isArm(resources) ? 'functionTimeArm' : 'functionTimeX86';
  const small = resolves * PER_REQUEST.smallCallsPerResolve;
  const requests = resolves + small + streams * PER_REQUEST.requestsPerStream;
  const isOnDemand = has('Custom::StopTasks');

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
    ...(has('AWS::Lambda::WebFunction') ? streamFunctionUsage(traffic) : []),
    ['metrics', resolves > 0 ? CUSTOM_METRICS : 0],
    ['logs', resolves * PER_REQUEST.logGb],
    ['traces', countTraces(resolves + small) / 1e6],
  ];
}

/** What a Lambda Web Function that streams is billed by. */
function streamFunctionUsage({ streams, gigabytes }: Traffic): Usage[] {
  const streamHours = (gigabytes * 1e9 * 8) / (CLIENT_MBIT_PER_SECOND * 1e6) / 3_600;
  return [
    ['streamFunctionVcpu', (gigabytes * CPU_SECONDS_PER_GIGABYTE) / 3_600],
    ['streamFunctionMemory', streamHours * STREAM_FUNCTION_GIB],
    ['streamFunctionRequests', (streams * PER_REQUEST.requestsPerStream) / 1e6],
  ];
}

/** Hours a month in which an on-demand task runs; visits that overlap count once. */
export const awakeHours = (visitsPerDay: number, idleMinutes: number): number =>
  (Math.min(24, (visitsPerDay * (TASK_START_MINUTES + idleMinutes)) / 60) * HOURS_PER_MONTH) / 24;

/** Traces of a month of invocations that arrive independently of each other (a Poisson process). */
export function countTraces(invocations: number): number {
  const secondsWithAny = SECONDS_PER_MONTH * -Math.expm1(-invocations / SECONDS_PER_MONTH);
  return secondsWithAny + TRACED_SHARE * (invocations - secondsWithAny);
}

/** Whether functions and tasks run on ARM: one setting is for all. */
const isArm = (resources: Resources): boolean =>
  resources.some(
    ({ Type, Properties }) =>
      Type === 'AWS::Lambda::Function' && (Properties?.Architectures as string[] | undefined)?.includes('arm64'),
  );

/** Minutes without a stream after which the task ends; 0 for tasks that stay. */
function findIdleMinutes(resources: Resources): number {
  const { Properties } = resources.find(({ Type }) => Type === 'AWS::ECS::TaskDefinition') ?? {};
  const containers = (Properties?.ContainerDefinitions ?? []) as {
    readonly Environment?: readonly { readonly Name: string; readonly Value: unknown }[];
  }[];
  const variables = containers.flatMap(({ Environment = [] }) => Environment);
  return Number(variables.find(({ Name }) => Name === 'IDLE_MINUTES')?.Value ?? 0);
}

type Resources = readonly { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }[];

const hasPointInTimeRecovery = (resources: Resources): boolean =>
  JSON.stringify(resources.filter(({ Type }) => Type.startsWith('AWS::DynamoDB::'))).includes(
    '"PointInTimeRecoveryEnabled":true',
  );
