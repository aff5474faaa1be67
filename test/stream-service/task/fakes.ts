import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createState } from '../../../core/state/create-state.ts';
import { createDynamoDbStorage } from '../../../core/state/dynamodb/index.ts';
import { keyOf, resourceId } from '../../../core/state/keys.ts';
import { ensureTable, startDynamoDb } from '../../support/dynamodb.ts';
import { type ObjectStore, startObjectStore } from '../../support/s3.ts';
import { mediaKey, renditionOf, resourceOf, trackOf } from '../fixture.ts';
import { type EcsAgent, startEcsAgent } from './ecs-agent.ts';
import { type HeldSource, startHeldSource } from './held-source.ts';
import { BUCKET } from './releases.ts';

/** What a task depends on: the table with one resource, the bucket, the ECS agent and a source. */
export interface TaskFakes {
  readonly dir: string;
  readonly store: ObjectStore;
  readonly agent: EcsAgent;
  readonly source: HeldSource;
  /** The path of a stream that needs no tools. */
  readonly path: string;
  /** The path of a stream whose source URL has expired. */
  readonly expiredPath: string;
  /** Environment of the task; nothing of this machine's. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const TABLE = 'reelay';

export async function startTaskFakes(): Promise<TaskFakes> {
  await using parts = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'reelay-task-'));
  parts.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 3 }));
  const [store, agent, source] = await Promise.all([startObjectStore(), startEcsAgent(), startHeldSource()]);
  for (const each of [store, agent, source]) parts.defer(() => each.close());
  const table = await startDynamoDb();
  parts.defer(table.close);

  await ensureTable(table.client, TABLE);
  const state = createState({ storage: createDynamoDbStorage({ client: table.client, tableName: TABLE }) });
  const expiresAt = Math.floor(Date.now() / 1000) + 24 * 3600;
  await state.putResource(resourceOf([trackOf('file', { url: source.url })], { expiresAt }));
  // What yt-dlp finds where it came from has the same format id.
  const origin = { url: source.url, extractor: 'Generic', entryId: 'file' };
  const expired = trackOf('mp4', { url: `http://${source.host}/expired` });
  await state.putResource(resourceOf([expired], { id: resourceId(origin), origin, expiresAt }));

  const ending = parts.move();
  return {
    dir,
    store,
    agent,
    source,
    path: `/api/Stream/Media/${mediaKey('file')}`,
    expiredPath: `/api/Stream/Media/${keyOf(resourceId(origin), renditionOf(['mp4']).id)}`,
    environment: {
      HOST: '127.0.0.1',
      PORT: '0',
      TABLE_NAME: TABLE,
      TOOLS_BUCKET: BUCKET,
      STAGE: 'test',
      TOOLS_DIR: join(dir, 'tools'),
      EGRESS_ALLOW: source.host,
      ECS_AGENT_URI: agent.uri,
      AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
      AWS_ENDPOINT_URL_S3: store.endpoint,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
    close: () => ending.disposeAsync(),
  };
}
