import { createNotFound } from '../api/index.ts';
import { createFunctionLog, readFunctionEnvironment } from '../runtime/index.ts';

export const handler = createNotFound({ ...readFunctionEnvironment(process.env), log: createFunctionLog() });
