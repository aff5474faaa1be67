/**
 * What AWS asks, in USD before tax, in us-east-1, as read on the date below; other regions differ by up to a third.
 * A gigabyte is 10^9 bytes.
 */
export const PRICES_AS_OF = '2026-11-21';

/** A month, as AWS reckons it. */
export const HOURS_A_MONTH = 730;

/** One thing that is counted and paid for. */
export interface Meter {
  /** As a person reads it on the bill. */
  readonly what: string;
  readonly unit: string;
  /** USD for one unit. */
  readonly price: number;
  /** Units that every account has free each month, without an end, once for all its stacks. */
  readonly free?: number;
}

export const METERS = {
  taskVcpuArm: { what: 'stream tasks, processor (ARM)', unit: 'vCPU h', price: 0.03238 },
  taskVcpuX86: { what: 'stream tasks, processor (x86)', unit: 'vCPU h', price: 0.04048 },
  taskMemoryArm: { what: 'stream tasks, memory (ARM)', unit: 'GiB h', price: 0.00356 },
  taskMemoryX86: { what: 'stream tasks, memory (x86)', unit: 'GiB h', price: 0.004445 },
  publicAddress: { what: 'public addresses of tasks', unit: 'h', price: 0.005 },
  loadBalancer: { what: 'load balancer', unit: 'h', price: 0.0225 },
  /** One unit carries 1 GB in an hour. */
  loadBalancerUnit: { what: 'load balancer, traffic', unit: 'unit h', price: 0.008 },

  functionRequests: { what: 'functions, requests', unit: 'million', price: 0.2, free: 1 },
  functionTimeArm: { what: 'functions, time (ARM)', unit: 'GiB s', price: 0.0000133334, free: 400_000 },
  functionTimeX86: { what: 'functions, time (x86)', unit: 'GiB s', price: 0.0000166667, free: 400_000 },
  apiRequests: { what: 'HTTP API', unit: 'million', price: 1 },

  tableWrites: { what: 'table, writes of 1 KB', unit: 'million', price: 0.625 },
  tableReads: { what: 'table, reads of 4 KB', unit: 'million', price: 0.125 },
  tableStorage: { what: 'table, storage', unit: 'GB', price: 0.25, free: 25 },
  tableRecovery: { what: 'table, point-in-time recovery', unit: 'GB', price: 0.2 },

  edgeTraffic: { what: 'edge, traffic to viewers', unit: 'GB', price: 0.085, free: 1_000 },
  edgeRequests: { what: 'edge, requests', unit: 'million', price: 1, free: 10 },
  edgeFunction: { what: 'edge, function calls', unit: 'million', price: 0.1, free: 2 },
  edgeStoreReads: { what: 'edge, key-value reads', unit: 'million', price: 0.03 },
  edgeStoreWrites: { what: 'edge, key-value writes', unit: 'thousand', price: 1 },

  firewall: { what: 'firewall', unit: 'list', price: 5 },
  firewallRules: { what: 'firewall, rules', unit: 'rule', price: 1 },
  firewallRequests: { what: 'firewall, requests', unit: 'million', price: 0.6 },

  alarms: { what: 'alarms', unit: 'alarm', price: 0.1, free: 10 },
  dashboards: { what: 'dashboards', unit: 'dashboard', price: 3, free: 3 },
  metrics: { what: 'metrics of its own', unit: 'metric', price: 0.3, free: 10 },
  logs: { what: 'logs', unit: 'GB', price: 0.5, free: 5 },
  traces: { what: 'traces', unit: 'million', price: 5, free: 0.1 },

  secrets: { what: 'secrets', unit: 'secret', price: 0.4 },
  images: { what: 'images', unit: 'GB', price: 0.1 },
  buckets: { what: 'buckets', unit: 'GB', price: 0.023 },
} as const satisfies Record<string, Meter>;

export type MeterName = keyof typeof METERS;
