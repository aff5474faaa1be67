export { BALANCED_TRUSTED_PROXIES, BalancedStreamHost } from './balanced-stream-host.ts';
export { ON_DEMAND_TRUSTED_PROXIES, OnDemandStreamHost } from './on-demand-stream-host.ts';
export { StreamNetwork } from './stream-network.ts';
export type { StreamDependencies } from './stream-permissions.ts';
export { StreamTask } from './stream-task.ts';
