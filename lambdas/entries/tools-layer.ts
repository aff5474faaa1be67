import { customResource } from '../custom-resource.ts';
import { createFunctionLog } from '../powertools/log.ts';
import { createToolMetrics } from '../powertools/metrics.ts';
import { assembleTools } from '../tools-update/assemble.ts';
import { readToolsEnvironment } from '../tools-update/tools-environment.ts';
import { createToolsLayer } from '../tools-update/tools-layer.ts';

const log = createFunctionLog();
const environment = readToolsEnvironment(process.env);
const { parts } = assembleTools({ environment, metrics: createToolMetrics(environment.stage), log });
const { provide, remove } = createToolsLayer({ ...parts, layerName: environment.layerName });

/** CloudFormation's custom resource: gives each deployment the newest good version of the tools layer. */
export const handler = customResource({ create: provide, update: provide, delete: remove, log });
