/**
 * The resolver function. It serves the operations that resolve a link, the entries of playlists that it hands to further
 * invocations of itself, and the check of a new yt-dlp: all of them need the warm worker, which a function of their own would start
 * again. Below: its settings, the parts that it works with, the start of the worker, and the handlers.
 */

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import middy from '@middy/core';
import { waitAtMost } from '@reelay/concurrency';
import { locateLayeredYtDlp, readVersion, type YtDlp } from '@reelay/yt-dlp-worker';
import { createSecretRenewal, optional, readSettingsInAws, readVariables, required } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import { createOriginSecretCheck } from '../../core/http/index.ts';
import { createResolver } from '../../core/resolve/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createFanOut, createResolveEntry, createResolvingHandlers, type EntryEvent } from '../api/index.ts';
import { createFunctionLog, ENTRIES_AT_ONCE, readFunctionEnvironment } from '../function-environment.ts';
import { routeEvent, routeOperations } from '../http-handler.ts';
import { createInvoker } from '../invoker.ts';
import { createLayeredTools, loadTools } from '../layered-tools.ts';
import { createResolveMetrics, measureResolve } from '../metrics.ts';
import { wakeAhead } from '../stream-host/index.ts';
import { type CheckEvent, createCheckResolver } from '../tools-update/index.ts';

/** For a copy of the program, and its home when it is asked for its version. */
const STAGING_DIR = join(tmpdir(), 'yt-dlp');
/** From the start of the process: Lambda restarts an environment whose initialization takes ten seconds. */
const INIT_TIMEOUT_MS = 8_000;

const log = createFunctionLog();
const environment = readFunctionEnvironment(process.env);
const { entriesAtOnce, layerDir, ownName, ownVersion, wakeFunction } = readVariables(process.env, {
  entriesAtOnce: ENTRIES_AT_ONCE,
  /** Where Lambda unpacks layers. */
  layerDir: optional('TOOLS_LAYER_DIR', '/opt'),
  ownName: required('AWS_LAMBDA_FUNCTION_NAME'),
  ownVersion: optional('AWS_LAMBDA_FUNCTION_VERSION', '$LATEST'),
  wakeFunction: optional('WAKE_FUNCTION'),
});
const settings = await readSettingsInAws(process.env);

const state = createState({ storage: createDynamoDbStorage(environment), log });
const egress = createEgress({ ...settings, allow: settings.egressAllow, log });
// A layer without tools means maintenance: the table names the activity, and this function answers with it.
let located: YtDlp | undefined;
const tools = createLayeredTools({ find: findYtDlp, log });
const metrics = createResolveMetrics(environment.stage);
const invoker = createInvoker();
const resolver = createResolver({
  ...settings,
  tools,
  egress,
  state,
  log,
  onYtDlpMode(mode) {
    metrics.ytDlpMode(mode);
    if (mode === 'process-per-link') tools.reportStartFailure();
  },
  entriesAtOnce,
  resolveEntry: createFanOut({
    state,
    // In this version, not behind the alias: while the alias moves, another version may carry other tools.
    invoke: (event, signal) => invoker.invoke(`${ownName}:${ownVersion}`, event, signal),
    resolveHere: (request, entryOptions) => resolver.resolveEntry(request, entryOptions),
  }),
});

await waitAtMost(startWorker(), INIT_TIMEOUT_MS - performance.now());

const { publicUrl, search, sponsorblockUrl } = settings;
const renewSecrets = createSecretRenewal(process.env, {
  settings,
  replaceProxies: egress.replaceProxies,
  renewCookies: resolver.renewCookies,
  onError: (error) => log.error('Secrets could not be read again', { error }),
});
const prepare = [{ before: renewSecrets }, loadTools(tools)];
const options = {
  ...environment,
  isFromEdge: createOriginSecretCheck(state.getOriginSecrets),
  publicUrl,
  search,
  sponsorblockUrl,
  state,
  resolver,
  log,
  measure: <Resolved>(resolve: () => Promise<Resolved>) => measureResolve(metrics, resolve),
  middleware: [...(wakeFunction ? [wakeAhead({ wakeFunction, invoker, log })] : []), ...prepare],
};
const resolveEntry = createResolveEntry({ resolver, log });
const checkResolver = createCheckResolver({
  find: async () => {
    const ytDlp = tools.ytDlp();
    return ytDlp && readVersion(ytDlp, STAGING_DIR);
  },
  resolver,
  log,
});

export const handler = routeEvent({
  http: routeOperations(createResolvingHandlers(options), options),
  direct: middy<EntryEvent | CheckEvent>()
    .use(prepare)
    .handler((event) => (event.kind === 'check' ? checkResolver(event) : resolveEntry(event))),
});

/** The yt-dlp of the layer; undefined without one. @param hasFailed it has failed to start before */
async function findYtDlp(hasFailed: boolean): Promise<YtDlp | undefined> {
  located ??= await locateLayeredYtDlp(layerDir, STAGING_DIR);
  // Costs another start of the program, a third of a cold start: only where something is wrong.
  if (located && hasFailed) await readVersion(located, STAGING_DIR);
  return located;
}

/** Starts the worker during initialization, before a request waits. A failure is logged, and the first request tries again. */
async function startWorker(): Promise<void> {
  try {
    await tools.load();
    await resolver.warm();
  } catch (error) {
    log.error('yt-dlp worker failed to start', { error });
    tools.reportStartFailure();
  }
  // Has an effect only after a failure was reported.
  await tools.load();
}
