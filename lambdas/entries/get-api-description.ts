import { createGetApiDescription } from '../api/index.ts';
import { createFunctionLog, readFunctionEnvironment } from '../runtime/index.ts';

export const handler = createGetApiDescription({
  ...readFunctionEnvironment(process.env),
  // The bundle has the page's parts beside it.
  assetsDir: import.meta.dirname,
  log: createFunctionLog(),
});
