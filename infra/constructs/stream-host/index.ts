export { BalancedStreamHost } from './balanced-stream-host.ts';
export { OnDemandStreamHost } from './on-demand-stream-host.ts';
export { StreamNetwork } from './stream-network.ts';
export { StreamTask } from './stream-task.ts';
