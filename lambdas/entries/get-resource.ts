import { tmpdir } from 'node:os';
import { join } from 'node:path';
import middy from '@middy/core';
import { waitAtMost } from '@reelay/concurrency';
import { locateLayeredYtDlp, readVersion, type YtDlp } from '@reelay/yt-dlp-worker';
import { createSecretRenewal, optional, readSettingsInAws, readVariables, required } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import { createResolver } from '../../core/resolve/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createFanOut, createResolveEntry, createResolvingAnswers, type EntryEvent } from '../api/index.ts';
import { measureResolve, routeEvent, routeOperations } from '../middleware/index.ts';
import {
  createFunctionLog,
  createInvoker,
  createLayeredTools,
  createResolveMetrics,
  ENTRIES_AT_ONCE,
  loadTools,
  readFunctionEnvironment,
} from '../runtime/index.ts';
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
const tools = createLayeredTools({
  async find(hasFailed) {
    located ??= await locateLayeredYtDlp(layerDir, STAGING_DIR);
    // Costs another start of the program, a third of a cold start: only where something is wrong.
    if (located && hasFailed) await readVersion(located, STAGING_DIR);
    return located;
  },
  log,
});
const metrics = createResolveMetrics(environment.stage);
const invoker = createInvoker();
// Entries run in the version that fanned them out: while the alias moves, another one may carry other tools.
const ownQualifiedName = `${ownName}:${ownVersion}`;
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
    invoke: (event, signal) => invoker.invoke(ownQualifiedName, event, signal),
    resolveHere: (request, entryOptions) => resolver.resolveEntry(request, entryOptions),
  }),
});
// Starts the worker during initialization, before a request waits. A failure is logged, and repeated by the first request.
const warm = tools
  .load()
  .then(resolver.warm)
  .catch((error) => {
    log.error('yt-dlp worker failed to start', { error });
    tools.reportStartFailure();
  })
  // Has an effect only after a failure was reported.
  .then(() => tools.load());
await waitAtMost(warm, INIT_TIMEOUT_MS - performance.now());

const checkResolver = createCheckResolver({
  find: async () => {
    const ytDlp = tools.ytDlp();
    return ytDlp && readVersion(ytDlp, STAGING_DIR);
  },
  resolver,
  log,
});
const renewSecrets = createSecretRenewal(process.env, {
  settings,
  replaceProxies: egress.replaceProxies,
  renewCookies: resolver.renewCookies,
  onError: (error) => log.error('Secrets could not be read again', { error }),
});
const resolveEntry = createResolveEntry({ resolver, log });

const { publicUrl, search, sponsorblockUrl } = settings;
const options = {
  ...environment,
  publicUrl,
  search,
  sponsorblockUrl,
  state,
  resolver,
  log,
  measure: <Resolved>(resolve: () => Promise<Resolved>) => measureResolve(metrics, resolve),
  middleware: [
    ...(wakeFunction ? [wakeAhead({ wakeFunction, invoker, log })] : []),
    { before: renewSecrets },
    loadTools(tools),
  ],
};

/**
 * The operations that resolve a link behind the HTTP API, and the playlist entries that they fan out to invocations of this
 * same function: all share its warm worker, where a second function would start its own.
 */
export const handler = routeEvent({
  http: routeOperations(createResolvingAnswers(options), options),
  direct: middy<EntryEvent | CheckEvent>()
    .use({ before: renewSecrets })
    .use(loadTools(tools))
    .handler((event) => (event.kind === 'check' ? checkResolver(event) : resolveEntry(event))),
});
