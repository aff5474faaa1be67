import {
  type Environment,
  optional,
  readVariables,
  required,
  type ValuesOf,
  wholeNumber,
} from '../../core/config/index.ts';

const DAY_MINUTES = 24 * 60;

const VARIABLES = {
  /** The state table, created by the deployment. */
  tableName: required('TABLE_NAME'),
  /** The bucket of the tools pointer. Absent: tools are installed as on one machine. */
  toolsBucket: optional('TOOLS_BUCKET'),
  /** The dimension of the metrics. */
  stage: optional('STAGE', 'local'),
  /** The function of the on-demand stream host, which tells the edge the task's address. Absent: a load balancer knows it. */
  hostFunction: optional('HOST_FUNCTION'),
  /** The task ends after this many minutes without a stream; 0: never. */
  idleMinutes: optional('IDLE_MINUTES', 0, wholeNumber(0, DAY_MINUTES)),
  /** Bytes that all tasks may send in a day. Absent: no limit. */
  streamBytesADay: optional('STREAM_BYTES_A_DAY', undefined, wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  /** URLs of the ECS agent, set by ECS. */
  agentUri: optional('ECS_AGENT_URI'),
  metadataUri: optional('ECS_CONTAINER_METADATA_URI_V4', ''),
};

/** Settings of a task besides those of every host. */
export interface TaskSettings extends ValuesOf<typeof VARIABLES> {}

/** @throws SettingError in one line that names the variable that is missing or invalid */
export const readTaskSettings = (environment: Environment): TaskSettings => readVariables(environment, VARIABLES);
