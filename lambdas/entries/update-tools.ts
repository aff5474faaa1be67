import type { Context } from 'aws-lambda';
import { SettingError } from '../../core/config/index.ts';
import { createFunctionLog, createToolMetrics } from '../runtime/index.ts';
import { createToolsUpdate, readToolsEnvironment, type UpdateOutcome, updateTools } from '../tools-update/index.ts';

/** Milliseconds that are kept to put things back in, when there is no time to finish. */
const RESERVE = 60_000;

const log = createFunctionLog();
const environment = readToolsEnvironment(process.env);
if (!environment.resolverFunction) throw new SettingError('RESOLVER_FUNCTION must be set');
const { dependencies: parts, functionLayers } = createToolsUpdate({
  environment,
  metrics: createToolMetrics(environment.stage),
  log,
});
const resolver = functionLayers(environment.resolverFunction);

/** On a schedule, and on demand with any event. Answers what the run came to; a failure is the function's own. */
export const handler = async (_event: unknown, context: Context): Promise<UpdateOutcome> => {
  log.addContext(context);
  const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - RESERVE));
  return updateTools({ ...parts, resolver }, signal);
};
