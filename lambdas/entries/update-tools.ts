import type { Context } from 'aws-lambda';
import { SettingError } from '../../core/config/index.ts';
import { createFunctionLog, createToolMetrics } from '../runtime/index.ts';
import {
  createToolsUpdate,
  installMissingTools,
  readToolsEnvironment,
  type UpdateOutcome,
  updateTools,
} from '../tools-update/index.ts';

/** Milliseconds that are kept to put things back in, when there is no time to finish. */
const RESERVE = 60_000;

/** The schedules' events; any other event asks for an update. */
interface UpdateEvent {
  /** Update only while no release is in use. */
  readonly onlyIfMissing?: boolean;
}

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
export const handler = async (event: UpdateEvent | undefined, context: Context): Promise<UpdateOutcome> => {
  log.addContext(context);
  const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - RESERVE));
  return (event?.onlyIfMissing ? installMissingTools : updateTools)({ ...parts, resolver }, signal);
};
