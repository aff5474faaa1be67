export { createBucket } from './bucket.ts';
export { createLogGroup, createProviderRole, ownProviderLogs } from './logs.ts';
export { serviceMetric } from './metrics.ts';
export { suppressNag, suppressWildcards } from './nag-suppressions.ts';
export { secretReading } from './secret-reading.ts';
export { arnHere, ServiceFunction, type ServiceFunctionOptions } from './service-function.ts';
export { StateTable } from './state-table.ts';
