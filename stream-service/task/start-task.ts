import type { AddressInfo } from 'node:net';
import { S3Client } from '@aws-sdk/client-s3';
import type { Settings } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createResolver } from '../../core/resolve/index.ts';
import { createState, createTableClient } from '../../core/state/index.ts';
import { createStreamService, LISTEN_BACKLOG } from '../create-stream-service.ts';
import { createSourceOpeners } from '../source/index.ts';
import { HEALTH_PATH, healthRoute } from './health-route.ts';
import { createIdle } from './idle.ts';
import { createMetrics } from './metrics.ts';
import { requireOriginSecret } from './origin-secret.ts';
import { createTaskProtection, type TaskProtectionOptions } from './task-protection.ts';
import type { TaskSettings } from './task-settings.ts';
import { startTaskTools, type TaskTools, type TaskToolsOptions } from './task-tools.ts';
import { toolsPointer } from './tools-pointer.ts';

export interface TaskOptions {
  readonly settings: Settings;
  readonly task: TaskSettings;
  /** Seconds that streams have to finish at the end. @default 115: ECS kills after 120 */
  readonly drainSeconds?: number;
  /** How soon it looks for its tools again, and gives its protection up. */
  readonly pace?: Pick<TaskToolsOptions, 'lookEvery' | 'retryAfter'> & Pick<TaskProtectionOptions, 'linger'>;
  /** Called once when no stream has run for as long as the settings say: end the task. */
  readonly onIdle: () => void;
  /** Takes one line of metrics, without its end. */
  readonly writeMetrics: (line: string) => void;
  readonly log: Log;
}

/** The stream service as one container runs it. */
export interface Task {
  readonly port: number;
  readonly tools: Pick<TaskTools, 'ytDlp' | 'ffmpeg' | 'activity'>;
  /** Takes no more streams, lets those running finish within the drain time, breaks the rest and ends everything. */
  close(): Promise<void>;
}

const DRAIN_SECONDS = 115;
/** Milliseconds: above the 4,000 s after which the load balancer ends a connection, so that it is never we who do. */
const KEEP_ALIVE = 4_030_000;

/**
 * Answers as soon as this settles; the tools may still be on their way.
 * @throws Error when the address or a setting cannot be used
 */
export async function startTask(options: TaskOptions): Promise<Task> {
  const { settings, task, drainSeconds = DRAIN_SECONDS, pace, onIdle, writeMetrics, log } = options;
  await using parts = new AsyncDisposableStack();
  let isDraining = false;

  const client = createTableClient();
  parts.defer(() => client.destroy());
  const state = createState({ client, tableName: task.tableName, log });
  const egress = createEgress({ allow: settings.egressAllow, outgoingProxies: settings.outgoingProxies, log });
  parts.defer(egress.close);
  const s3 = createS3Client();
  parts.defer(() => s3.destroy());
  const pointer = task.toolsBucket ? toolsPointer({ s3, bucket: task.toolsBucket }) : undefined;
  const tools = startTaskTools({ settings, egress, pointer, ...pace, log });
  parts.defer(tools.close);
  const extraction = createResolver({ ...settings, tools, egress, state, log });
  parts.defer(extraction.close);

  const toolVersion = () => tools.ytDlp()?.version;
  const metrics = createMetrics({ stage: task.stage, toolVersion, write: writeMetrics });
  parts.defer(metrics.close);
  const idle = createIdle({ minutes: task.idleMinutes, onIdle });
  parts.defer(idle.close);
  // A task that ends when idle belongs to no service: ECS protects none but those of one.
  const isOfService = task.idleMinutes === 0;
  const protection =
    task.agentUri && isOfService ? createTaskProtection({ agentUri: task.agentUri, ...pace, log }) : undefined;
  parts.defer(async () => protection?.close());

  const refresh: typeof extraction.refresh = (resource, signal) => {
    metrics.reResolved();
    return extraction.refresh(resource, signal);
  };
  const streams = await createStreamService({
    ...settings,
    state,
    ...createSourceOpeners({ egress, refresh, log }),
    ffmpeg: tools.ffmpeg,
    maintenance: async () => tools.activity() ?? (await state.getMaintenance())?.activity,
    limits: settings,
    drainSeconds,
    observer: {
      onStreamStart(bytesSent) {
        const ends = [metrics, idle, protection].map((each) => each?.onStreamStart(bytesSent));
        return () => {
          for (const end of ends) end?.();
        };
      },
      onFfmpegFailure: metrics.onFfmpegFailure,
    },
    extend(app) {
      if (task.originSecret) requireOriginSecret(app, task.originSecret, [HEALTH_PATH]);
      healthRoute(app, () => isDraining);
    },
    log,
  });
  parts.defer(streams.close);
  parts.defer(streams.drain);
  const { server } = streams.app;
  server.keepAliveTimeout = KEEP_ALIVE;
  await streams.app.listen({ host: settings.host, port: settings.port, backlog: LISTEN_BACKLOG });

  const ending = parts.move();
  let closed: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    tools,
    close() {
      isDraining = true;
      closed ??= ending.disposeAsync();
      return closed;
    },
  };
}

/** One that fails within seconds when the bucket does not answer; its callers bound how long a whole object may take. */
const createS3Client = () =>
  new S3Client({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
