import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { S3Client } from '@aws-sdk/client-s3';
import { startWithShutdown } from '@reelay/concurrency';
import type { FastifyInstance } from 'fastify';
import { problems } from '../../core/api/index.ts';
import {
  createSecretRenewal,
  type Environment,
  optional,
  readVariables,
  required,
  type Settings,
  type ValuesOf,
  wholeNumber,
} from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import { createSignatureCheck, ORIGIN_SECRET_HEADER } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createResolver } from '../../core/resolve/index.ts';
import { createDynamoDbStorage, createTableClient } from '../../core/state/dynamodb/index.ts';
import { createState, type State } from '../../core/state/index.ts';
import { createStreamService, LISTEN_BACKLOG } from '../create-stream-service.ts';
import { checkSandbox } from '../ffmpeg/index.ts';
import { createSourceOpeners } from '../source/index.ts';
import { createByteBudget } from './byte-budget.ts';
import { createIdleTimer } from './idle-timer.ts';
import { createMetrics } from './metrics.ts';
import { createRegistration } from './registration.ts';
import { createTaskProtection, type TaskProtectionOptions } from './task-protection.ts';
import { startTaskTools, type TaskTools, type TaskToolsOptions } from './task-tools.ts';
import { createToolsPointer } from './tools-pointer.ts';

/** Requested by load balancers and by the container's own health check. */
const HEALTH_PATH = '/healthz';

/**
 * 200 from the start, also without tools: a task in maintenance serves what it can and recovers by itself.
 * 503 when it is draining.
 */
function healthRoute(app: FastifyInstance, isDraining: () => boolean): void {
  app.get(HEALTH_PATH, async (_request, reply) => {
    const [code, status] = isDraining() ? [503, 'draining'] : [200, 'ok'];
    return reply.code(code).header('cache-control', 'no-store').send({ status });
  });
}

export interface TaskOptions {
  readonly settings: Settings;
  readonly task: TaskSettings;
  /** The environment that the settings are from: secrets that it names are read again. @default none is */
  readonly environment?: Environment;
  /** How long running streams may take to finish at shutdown. @default 115: ECS kills after 120 */
  readonly drainSeconds?: number;
  /** Intervals, for tests. */
  readonly timing?: Pick<TaskToolsOptions, 'updateIntervalMs' | 'retryDelayMs'> &
    Pick<TaskProtectionOptions, 'releaseDelayMs'>;
  /** Called once when no stream has run for as long as the settings say: end the task. */
  readonly onIdle: () => void;
  /** Takes one line of metrics, without the line break. */
  readonly writeMetrics: (line: string) => void;
  readonly log: Log;
}

/** The stream service in a container. */
export interface Task {
  readonly port: number;
  readonly tools: Pick<TaskTools, 'ytDlp' | 'ffmpeg' | 'activity'>;
  /** Refuses new streams, lets running ones finish within the drain time, ends the rest and closes everything. */
  close(): Promise<void>;
}

const DRAIN_SECONDS = 115;
/** Between two checks of the age of the secrets, which make no request. */
const SECRET_CHECK_MS = 15_000;
/** Longer than the 4,000 s idle timeout of the load balancer, which is then always the side that closes a connection. */
const KEEP_ALIVE_TIMEOUT_MS = 4_030_000;

/**
 * Accepts requests when this settles; the tools may still be downloading.
 * @throws Error when the address or a setting cannot be used
 */
export const startTask = (options: TaskOptions): Promise<Task> =>
  startWithShutdown(async (shutdown) => {
    const { settings, task, drainSeconds = DRAIN_SECONDS, timing, onIdle, writeMetrics, log } = options;
    let isDraining = false;

    const client = createTableClient();
    shutdown.defer(() => client.destroy());
    const state = createState({ storage: createDynamoDbStorage({ client, tableName: task.tableName }), log });
    // Each task has its own address, and URLs that it renews may only work from there.
    const directIdentity = `direct@${randomUUID()}`;
    const egress = shutdown.own(createEgress({ ...settings, allow: settings.egressAllow, directIdentity, log }));
    const s3 = createS3Client();
    shutdown.defer(() => s3.destroy());
    const pointer = task.toolsBucket ? createToolsPointer({ s3, bucket: task.toolsBucket }) : undefined;
    const tools = shutdown.own(startTaskTools({ settings, egress, pointer, ...timing, log }));
    const resolver = shutdown.own(createResolver({ ...settings, tools, egress, state: withoutLinks(state), log }));

    const renewSecrets = createSecretRenewal(options.environment ?? {}, {
      settings,
      replaceProxies: egress.replaceProxies,
      renewCookies: resolver.renewCookies,
      onError: (error) => log.error('Secrets could not be read again', { error }),
    });
    const renewal = setInterval(renewSecrets, SECRET_CHECK_MS).unref();
    shutdown.defer(() => clearInterval(renewal));

    const toolVersion = () => tools.ytDlp()?.version;
    const metrics = shutdown.own(createMetrics({ stage: task.stage, toolVersion, write: writeMetrics }));
    const { hostFunction, metadataUri } = task;
    const registration = hostFunction
      ? shutdown.own(createRegistration({ hostFunction, metadataUri, log }))
      : undefined;
    const leave = async () => {
      await registration?.leave(true);
      onIdle();
    };
    const idleTimer = shutdown.own(createIdleTimer({ idleMinutes: task.idleMinutes, onIdle: leave, log }));
    // Not for on-demand tasks: a deployment replaces them at once, and players continue with range requests.
    const protection =
      task.agentUri && !hostFunction
        ? shutdown.own(createTaskProtection({ agentUri: task.agentUri, ...timing, log }))
        : undefined;

    let suspend: (reason: string | undefined) => void = () => undefined;
    const budget = shutdown.own(
      createByteBudget({ state, bytesADay: task.streamBytesADay, suspend: (reason) => suspend(reason), log }),
    );

    const refresh: typeof resolver.refresh = (resource, signal, client) => {
      metrics.onRefresh();
      return resolver.refresh(resource, signal, client);
    };
    const { latest, readAsBrowser } = resolver;
    const streams = await createStreamService({
      ...settings,
      state,
      ...createSourceOpeners({ ...settings, state, egress, refresh, latest, readAsBrowser, log }),
      resolve: resolver.resolve,
      request: egress.request,
      ffmpeg: tools.ffmpeg,
      maintenance: async () => tools.activity() ?? (await state.getMaintenance())?.activity,
      limits: settings,
      drainSeconds,
      observer: {
        onStreamStart(bytesSent) {
          const observers = [metrics, idleTimer, protection, budget];
          const ends = observers.map((observer) => observer?.onStreamStart(bytesSent));
          return () => {
            for (const end of ends) end?.();
          };
        },
        onFfmpegFailure: metrics.onFfmpegFailure,
      },
      extend(app) {
        if (registration) requireSignature(app, registration.secret, [HEALTH_PATH]);
        healthRoute(app, () => isDraining);
      },
      log,
    });
    shutdown.own(streams);
    suspend = streams.suspend;
    const ffmpeg = tools.ffmpeg();
    if (ffmpeg) await checkSandbox(ffmpeg.path, log);
    shutdown.defer(streams.drain);
    const { server } = streams.app;
    server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
    await streams.app.listen({ host: settings.host, port: settings.port, backlog: LISTEN_BACKLOG });
    registration?.start();

    return {
      port: (server.address() as AddressInfo).port,
      tools,
      close() {
        isDraining = true;
        // Not awaited: the edge should stop sending requests while streams still drain.
        void registration?.close();
        return shutdown.close();
      },
    };
  });

/**
 * The role of the task has no access to links, which reveal what users resolve. Entries of archives are found by
 * resource.
 */
const withoutLinks = (state: State): State => ({
  ...state,
  getLink: async () => undefined,
  putLink: async () => undefined,
});

/** Fails within seconds when the bucket does not respond; callers bound how long a whole object may take. */
const createS3Client = () =>
  new S3Client({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });

/** Responds 404 to requests that the edge has not signed within the last minute, except for `openPaths`: 403 would reveal the service. */
function requireSignature(app: FastifyInstance, secret: string, openPaths: readonly string[]): void {
  const isFromEdge = createSignatureCheck(secret);
  app.addHook('onRequest', async ({ headers, method, url }) => {
    const [path = ''] = url.split('?', 1);
    if (openPaths.includes(url) || isFromEdge({ method, path }, headers[ORIGIN_SECRET_HEADER]?.toString())) return;
    throw problems.notFound();
  });
}

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
