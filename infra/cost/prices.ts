/**
 * List prices in USD before tax in us-east-1, as of the date below; other regions differ by up to a third.
 * A gigabyte is 10^9 bytes.
 */
export const PRICES_AS_OF = '2026-11-21';

/** AWS's convention for a month. */
export const HOURS_PER_MONTH = 730;

/** A billed quantity. */
export interface Meter {
  /** Name in the report. */
  readonly label: string;
  readonly unit: string;
  /** USD per unit; with tiers, of what exceeds the last one. Undefined: not published. */
  readonly price: number | undefined;
  /** Units per month of the permanent free tier, shared by all stacks of an account. */
  readonly free?: number;
  /** Volume prices, ascending: USD per unit of the usage up to a quantity, which includes the free one. */
  readonly tiers?: readonly { readonly upTo: number; readonly price: number }[];
}

export const METERS = {
  taskVcpuArm: { label: 'stream tasks, processor (ARM)', unit: 'vCPU h', price: 0.03238 },
  taskVcpuX86: { label: 'stream tasks, processor (x86)', unit: 'vCPU h', price: 0.04048 },
  taskMemoryArm: { label: 'stream tasks, memory (ARM)', unit: 'GiB h', price: 0.00356 },
  taskMemoryX86: { label: 'stream tasks, memory (x86)', unit: 'GiB h', price: 0.004445 },
  publicAddress: { label: 'public addresses of tasks', unit: 'h', price: 0.005 },
  loadBalancer: { label: 'load balancer', unit: 'h', price: 0.0225 },
  /** One unit carries 1 GB in an hour. */
  loadBalancerUnit: { label: 'load balancer, traffic', unit: 'unit h', price: 0.008 },

  functionRequests: { label: 'functions, requests', unit: 'million', price: 0.2, free: 1 },
  functionTimeArm: { label: 'functions, time (ARM)', unit: 'GiB s', price: 0.0000133334, free: 400_000 },
  functionTimeX86: { label: 'functions, time (x86)', unit: 'GiB s', price: 0.0000166667, free: 400_000 },
  provisionedTimeArm: { label: 'functions, provisioned (ARM)', unit: 'GiB s', price: 0.0000033334 },
  provisionedTimeX86: { label: 'functions, provisioned (x86)', unit: 'GiB s', price: 0.0000041667 },
  apiRequests: { label: 'HTTP API', unit: 'million', price: 1 },

  // Billed by active processor time, memory in use and requests. AWS documents the quantities, and no price of them.
  streamFunctionVcpu: { label: 'stream function, active processor', unit: 'vCPU h', price: undefined },
  streamFunctionMemory: { label: 'stream function, memory', unit: 'GiB h', price: undefined },
  streamFunctionRequests: { label: 'stream function, requests', unit: 'million', price: undefined },

  tableWrites: { label: 'table, writes of 1 KB', unit: 'million', price: 0.625 },
  tableReads: { label: 'table, reads of 4 KB', unit: 'million', price: 0.125 },
  tableStorage: { label: 'table, storage', unit: 'GB', price: 0.25, free: 25 },
  tableRecovery: { label: 'table, point-in-time recovery', unit: 'GB', price: 0.2 },

  edgeTraffic: {
    label: 'edge, traffic to viewers',
    unit: 'GB',
    free: 1_000,
    /** To North America and Europe. */
    tiers: [
      { upTo: 10_000, price: 0.085 },
      { upTo: 50_000, price: 0.08 },
      { upTo: 150_000, price: 0.06 },
      { upTo: 500_000, price: 0.04 },
      { upTo: 1_024_000, price: 0.03 },
      { upTo: 5_024_000, price: 0.025 },
    ],
    price: 0.02,
  },
  edgeRequests: { label: 'edge, requests', unit: 'million', price: 1, free: 10 },
  edgeFunction: { label: 'edge, function calls', unit: 'million', price: 0.1, free: 2 },
  edgeStoreReads: { label: 'edge, key-value reads', unit: 'million', price: 0.03 },
  edgeStoreWrites: { label: 'edge, key-value writes', unit: 'thousand', price: 1 },

  firewall: { label: 'firewall', unit: 'list', price: 5 },
  firewallRules: { label: 'firewall, rules', unit: 'rule', price: 1 },
  firewallRequests: { label: 'firewall, requests', unit: 'million', price: 0.6 },

  alarms: { label: 'alarms', unit: 'alarm', price: 0.1, free: 10 },
  dashboards: { label: 'dashboards', unit: 'dashboard', price: 3, free: 3 },
  metrics: { label: 'metrics of its own', unit: 'metric', price: 0.3, free: 10 },
  metricReads: { label: 'metrics read', unit: 'thousand', price: 0.01, free: 1_000 },
  logs: { label: 'logs', unit: 'GB', price: 0.5, free: 5 },
  traces: { label: 'traces', unit: 'million', price: 5, free: 0.1 },

  secrets: { label: 'secrets', unit: 'secret', price: 0.4 },
  images: { label: 'images', unit: 'GB', price: 0.1 },
  buckets: { label: 'buckets', unit: 'GB', price: 0.023 },
} as const satisfies Record<string, Meter>;

export type MeterName = keyof typeof METERS;

/** A flat-rate plan of CloudFront for one distribution. */
export interface EdgePlan {
  readonly name: string;
  /** USD per month; there are no charges beyond the allowance, but CloudFront may slow down. */
  readonly price: number;
  /** Allowance per month, requests in millions. */
  readonly gigabytes: number;
  readonly requests: number;
}

/** The flat-rate plans since 2025-11-18, cheapest first. */
export const EDGE_PLANS: readonly EdgePlan[] = [
  { name: 'Free', price: 0, gigabytes: 100, requests: 1 },
  { name: 'Pro', price: 15, gigabytes: 50_000, requests: 10 },
  { name: 'Business', price: 200, gigabytes: 50_000, requests: 125 },
  { name: 'Premium', price: 1_000, gigabytes: 50_000, requests: 500 },
];

/** Meters that a flat-rate plan includes: delivery, functions at the edge, and the firewall. */
export const PLAN_METERS: readonly MeterName[] = [
  ...(['edgeTraffic', 'edgeRequests', 'edgeFunction', 'edgeStoreReads'] as const),
  ...(['firewall', 'firewallRules', 'firewallRequests'] as const),
];
