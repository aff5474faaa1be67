import { SettingError, wholeNumber } from '../../core/config/index.ts';

/** Settings of a task besides those of every host. */
export interface TaskSettings {
  /** The state table, created by the deployment. */
  readonly tableName: string;
  /** The bucket of the tools pointer. Absent: tools are installed as on one machine. */
  readonly toolsBucket?: string;
  /** The dimension of the metrics. @default 'local' */
  readonly stage: string;
  /** Required of every request where the task has a public address. */
  readonly originSecret?: string;
  /** The task ends after this many minutes without a stream; 0: never. @default 0 */
  readonly idleMinutes: number;
  /** URL of the ECS agent, set by ECS. */
  readonly agentUri?: string;
}

const DAY_MINUTES = 24 * 60;

/** @throws SettingError with a message that names the setting */
export function readTaskSettings(environment: Readonly<Record<string, string | undefined>>): TaskSettings {
  const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const tableName = read('TABLE_NAME');
  if (!tableName) throw new SettingError('TABLE_NAME must name the state table');
  const idleMinutes = read('IDLE_MINUTES');
  return {
    tableName,
    toolsBucket: read('TOOLS_BUCKET'),
    stage: read('STAGE') ?? 'local',
    originSecret: read('ORIGIN_SECRET'),
    idleMinutes: idleMinutes ? wholeNumber(0, DAY_MINUTES)('IDLE_MINUTES', idleMinutes) : 0,
    agentUri: read('ECS_AGENT_URI'),
  };
}
