export { customResource } from './custom-resource.ts';
export { ENTRIES_AT_ONCE, readFunctionEnvironment } from './function-environment.ts';
export { createFunctionLog, logContext } from './function-log.ts';
export { createInvoker, type Invoker } from './invoker.ts';
export { createLayeredTools, loadTools } from './layered-tools.ts';
export { createResolveMetrics, createToolMetrics, type ResolveMetrics, type ToolMetrics } from './metrics.ts';
