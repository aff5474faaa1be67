import { readFunctionEnvironment } from '../function-environment.ts';
import { createNotFound } from '../not-found.ts';
import { createFunctionLog } from '../powertools/log.ts';

export const handler = createNotFound({ ...readFunctionEnvironment(process.env), log: createFunctionLog() });
