import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { resolve } from 'node:path';
import { expect, vi } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { closeParsing } from '../../../core/parsing/index.ts';
import { createResolver } from '../../../core/resolve/create-resolver.ts';
import type { Resolver } from '../../../core/resolve/index.ts';
import { createState, type State } from '../../../core/state/index.ts';
import { createFunctions } from '../../../lambdas/api/index.ts';
import { createGateway } from '../../../local/service/gateway.ts';
import { createStreamService } from '../../../stream-service/create-stream-service.ts';
import { runningFfmpegs } from '../../../stream-service/ffmpeg/run-ffmpeg.ts';
import { createSourceOpeners } from '../../../stream-service/source/open-source.ts';
import { type Origin, startOrigin } from '../../origin/server.ts';
import { afterFile } from '../../support/after-file.ts';
import { installedTools } from '../../support/installed-tools.ts';
import { prefixOf, segmentOf } from '../../support/segments-service.ts';
import { openTemporaryState } from '../../support/temporary-state.ts';
import { SCALED_LIMITS } from '../service-fixture.ts';
import { openHandles } from '../table.ts';
import { createFailingEgress, createFailingStart, createFailingStorage, failStarts } from './failing-parts.ts';
import { createFaultInjector, type Failure, type FaultInjector } from './fault-injector.ts';

const STREAM_PATH = /^\/api\/stream\//i;

/** Few requests, and so few effects. */
const LIMITS = {
  ...SCALED_LIMITS,
  defaultChunkBytes: 1024 * 1024,
  minChunkBytes: 256 * 1024,
  readAheadBytes: 1024 * 1024,
};

/** The API and the stream service on a port of this process, each of whose effects fails on demand. */
export interface InjectedService extends Pick<FaultInjector, 'disarm'> {
  readonly baseUrl: string;
  readonly origin: Origin;
  /** The table as it is, for what a test puts there. */
  readonly state: State;
  readonly resolver: Resolver;
  /** Has the service of segments know one of a video. */
  addSegment(videoId: string): void;
  /** Text with the URLs of the origin by another name, which the egress looks up and has no connection to. */
  renameHost(text: string): string;
  /** Injects a failure at the effect of this number. @param only the only effects that count */
  arm(at: number, failure: Failure, only?: RegExp): void;
  /** Kills every child process. Resolves when their ends have been reported. */
  kill(): Promise<void>;
  /**
   * Requests something anew for each effect that it has, with a failure at that effect, and checks its outcome, and what is right
   * without a failure.
   */
  failEachEffect<Wanted>(failure: Failure, requests: Requests<Wanted>): Promise<void>;
  /** Waits until nothing of the requests so far is left: responses, requests to sources, processes. */
  untilIdle(): Promise<void>;
}

interface Requests<Wanted> {
  /** Not counted: effects that it has are not those of the request. */
  readonly prepare: () => Wanted | Promise<Wanted>;
  readonly request: (wanted: Wanted) => Promise<string>;
  /** The outcome without a failure. */
  readonly right: string;
  readonly check: (outcome: string, effect: string, where: string) => Promise<void>;
}

/** Starts the service, which is closed after the file: then nothing of it may be left. */
export async function startInjectedService(): Promise<InjectedService> {
  // What files before it left to all of this process: no failure would reach it.
  await closeParsing();
  const handlesBefore = openHandles();
  const injector = createFaultInjector();
  const videos = new Map<string, string>();
  const origin = await startOrigin({
    mounts: {
      '/api/skipSegments/': ({ path, response }) =>
        void response.end(JSON.stringify([{ videoID: videos.get(path), segments: [segmentOf(1, 2.5)] }])),
    },
  });
  const table = await openTemporaryState();
  const state = createState({ storage: createFailingStorage(injector, table.storage) });
  const egress = createFailingEgress(injector, [origin.host]);
  const kill = failStarts(injector);
  const { ytDlp, ffmpeg } = await installedTools();
  await table.state.putTools({ ytDlp: '', ffmpeg: '', verifiedBy: { ytDlp: '', ffmpeg: '' }, installedAt: 0 });
  const resolver = createResolver({
    tools: { ytDlp: () => ytDlp },
    egress,
    state,
    start: createFailingStart(injector),
    pluginDirs: [resolve(import.meta.dirname, '../../origin/plugin')],
    // A permit that is not released stops all further requests.
    concurrency: 1,
    maxResolvesPerClient: 1,
  });
  const streams = await createStreamService({
    state,
    ...createSourceOpeners({ egress, refresh: resolver.refresh, limits: LIMITS }),
    resolve: resolver.resolve,
    ffmpeg: () => ffmpeg,
    maintenance: async () => undefined,
    limits: { maxStreams: 1, maxStreamsPerClient: 1, maxFfmpeg: 1 },
    corsAllowedOrigins: [],
    trustedProxies: 0,
    sponsorblockUrl: origin.baseUrl.replace('127.0.0.1', 'segments.example'),
    request: egress.request,
    log: silentLog,
  });
  const gateway = createGateway({
    handler: createFunctions({
      state,
      resolver,
      version: '0.0.0',
      environment: 'Production',
      origins: [],
      assetsDir: '',
      log: silentLog,
    }),
    log: silentLog,
  });
  let hosts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    if (STREAM_PATH.test(request.url ?? '')) streams.app.routing(request, response);
    else gateway(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const leave = () => {
    for (const socket of sockets) socket.destroy();
  };

  afterFile(async () => {
    server.close();
    await streams.close();
    await resolver.close();
    await egress.close();
    await vi.waitUntil(() => origin.connections === 0, { timeout: 30_000 });
    await origin.close();
    await table.close();
    await vi.waitUntil(() => openHandles() <= handlesBefore, { timeout: 30_000 });
  });
  const untilIdle = async () => {
    const left = () => ({
      responses: sockets.size,
      ffmpegs: runningFfmpegs(),
      requests: origin.requests.filter((request) => request.state === 'open').map(({ path }) => path),
    });
    await expect.poll(left, { interval: 5 }).toEqual({ responses: 0, ffmpegs: 0, requests: [] });
  };
  const arm: InjectedService['arm'] = (at, failure, only) =>
    injector.arm({ at, failure, ...(only && { only }), leave, kill });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    origin,
    state: table.state,
    resolver,
    addSegment: (videoId) => void videos.set(prefixOf(videoId), videoId),
    renameHost(text) {
      hosts += 1;
      return text.replaceAll(origin.host, origin.host.replace('127.0.0.1', `host-${hosts}.example`));
    },
    arm,
    kill,
    disarm: injector.disarm,
    untilIdle,
    async failEachEffect(failure, { prepare, request, right, check }) {
      const outcomeAt = async (at: number) => {
        const wanted = await prepare();
        arm(at, failure);
        const outcome = await request(wanted);
        const effect = injector.disarm();
        await untilIdle();
        return { outcome, effect };
      };
      expect(await outcomeAt(Number.POSITIVE_INFINITY)).toEqual({ outcome: right, effect: undefined });
      const effects = injector.effects();
      for (let at = 1; at <= effects; at++) {
        const { outcome, effect } = await outcomeAt(at);
        // Reads may be fewer.
        if (effect === undefined) expect(outcome, `without number ${at}`).toBe(right);
        else await check(outcome, effect, `${effect}, number ${at} of ${effects}`);
      }
    },
  };
}
