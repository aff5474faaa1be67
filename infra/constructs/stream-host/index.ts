export { BalancedStreamHost, PROXIES_BEFORE_BALANCED_TASK } from './balanced-stream-host.ts';
export { OnDemandStreamHost, PROXIES_BEFORE_TASK_ON_DEMAND } from './on-demand-stream-host.ts';
export { StreamNetwork } from './stream-network.ts';
export { StreamTask } from './stream-task.ts';
