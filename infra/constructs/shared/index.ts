export { createBucket } from './bucket.ts';
export { createLogGroup, createProviderRole, useStackLogGroups } from './logs.ts';
export { serviceMetric } from './metrics.ts';
export { suppressNag, suppressWildcards } from './nag-suppressions.ts';
export { regionalName } from './regional-name.ts';
export { secretReadStatements } from './secret-access.ts';
export { arnInStack, ServiceFunction, type ServiceFunctionProps } from './service-function.ts';
export { StateTable } from './state-table.ts';
