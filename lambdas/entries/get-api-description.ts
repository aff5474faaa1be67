import { readFunctionEnvironment } from '../function-environment.ts';
import { createGetApiDescription } from '../get-api-description.ts';
import { createFunctionLog } from '../powertools/log.ts';

export const handler = createGetApiDescription({
  ...readFunctionEnvironment(process.env),
  // The bundle has the page's parts beside it.
  assetsDir: import.meta.dirname,
  log: createFunctionLog(),
});
