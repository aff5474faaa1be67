import type { Context } from 'aws-lambda';
import { createFunctionLog } from '../function-environment.ts';
import { createToolsUpdate, installMissingTools, rollBack, updateTools } from '../tools-update/index.ts';

/** Reserved at the end of the invocation for rolling back an unfinished update. */
const ROLLBACK_RESERVE_MS = 60_000;

/** The events of the schedules and of the alarm; any other event asks for an update. */
interface UpdateEvent {
  /** Update only while no release is in use. */
  readonly onlyIfMissing?: boolean;
  /** Set by CloudWatch: the alarm on failed resolves is raised. */
  readonly alarmArn?: string;
}

const log = createFunctionLog();
const parts = createToolsUpdate(process.env, { log });

/**
 * On a schedule, and on demand with any event. Responds with the outcome of the run; a failed run fails the invocation.
 */
export const handler = async (event: UpdateEvent | undefined, context: Context) => {
  log.addContext(context);
  const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - ROLLBACK_RESERVE_MS));
  if (event?.alarmArn) return rollBack(parts, signal);
  return (event?.onlyIfMissing ? installMissingTools : updateTools)(parts, signal);
};
