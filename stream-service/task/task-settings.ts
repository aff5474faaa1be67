import { SettingError, wholeNumber } from '../../core/config/index.ts';

/** What a task is told besides the settings of every host. */
export interface TaskSettings {
  /** The state table, which exists. */
  readonly tableName: string;
  /** Where the pointer to the tools is. Absent: they come as on one machine. */
  readonly toolsBucket?: string;
  /** The dimension of the metrics. @default 'local' */
  readonly stage: string;
  /** What every request must carry, where strangers can reach the task. */
  readonly originSecret?: string;
  /** Minutes without a stream after which the task ends itself; 0: never. @default 0 */
  readonly idleMinutes: number;
  /** `http://…` of the ECS agent, given by ECS. */
  readonly agentUri?: string;
}

const A_DAY = 24 * 60;

/** @throws SettingError in one line that names the setting */
export function readTaskSettings(environment: Readonly<Record<string, string | undefined>>): TaskSettings {
  const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const tableName = read('TABLE_NAME');
  if (!tableName) throw new SettingError('TABLE_NAME must name the state table');
  const toolsBucket = read('TOOLS_BUCKET');
  const originSecret = read('ORIGIN_SECRET');
  const agentUri = read('ECS_AGENT_URI');
  const idleMinutes = read('IDLE_MINUTES');
  return {
    tableName,
    ...(toolsBucket && { toolsBucket }),
    stage: read('STAGE') ?? 'local',
    ...(originSecret && { originSecret }),
    idleMinutes: idleMinutes ? wholeNumber(0, A_DAY)('IDLE_MINUTES', idleMinutes) : 0,
    ...(agentUri && { agentUri }),
  };
}
