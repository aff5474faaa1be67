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

/** Reserved at the end of the invocation for rolling back an unfinished update. */
const ROLLBACK_RESERVE_MS = 60_000;

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

/** Invoked by schedules, and on demand with any event. Returns the outcome; throws when the update failed. */
export const handler = async (event: UpdateEvent | undefined, context: Context): Promise<UpdateOutcome> => {
  log.addContext(context);
  const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - ROLLBACK_RESERVE_MS));
  return (event?.onlyIfMissing ? installMissingTools : updateTools)({ ...parts, resolver }, signal);
};
