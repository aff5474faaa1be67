import { createGetApiDescription } from '../api/index.ts';
import { createFunctionLog, readFunctionEnvironment } from '../runtime/index.ts';

export const handler = createGetApiDescription({
  ...readFunctionEnvironment(process.env),
  // The deployment package contains the assets next to the bundle.
  assetsDir: import.meta.dirname,
  log: createFunctionLog(),
});
