import { customResource } from '../custom-resource.ts';
import { createFunctionLog } from '../function-environment.ts';
import { createToolsUpdate, provideTools, removeTools } from '../tools-update/index.ts';

const log = createFunctionLog();
const parts = createToolsUpdate(process.env, { log });

/** Custom resource: provides each deployment with the newest working version of the tools layer. */
export const handler = customResource({
  physicalId: parts.layerName,
  provide: ({ signal }) => provideTools(parts, signal).then(() => ({})),
  remove: (signal) => removeTools(parts, signal),
  log,
});
