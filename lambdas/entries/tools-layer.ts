import { createFunctionLog, createToolMetrics, customResource } from '../runtime/index.ts';
import { createToolsLayer, createToolsUpdate, readToolsEnvironment } from '../tools-update/index.ts';

const log = createFunctionLog();
const environment = readToolsEnvironment(process.env);
const parts = createToolsUpdate({ environment, metrics: createToolMetrics(environment.stage), log });
const { provide, remove } = createToolsLayer({ ...parts, layerName: environment.layerName });

/** Custom resource: provides each deployment with the newest working version of the tools layer. */
export const handler = customResource({ create: provide, update: provide, delete: remove, log });
