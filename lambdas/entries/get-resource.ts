import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitAtMost } from '../../core/concurrency/index.ts';
import { readSettingsInAws } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import { createResolver } from '../../core/resolve/index.ts';
import { createState } from '../../core/state/index.ts';
import { findLayeredYtDlp } from '../../layers/tools/yt-dlp/index.ts';
import { createFanOut, createGetResource, createResolveEntry, type EntryEvent } from '../api/index.ts';
import { type Event, measured } from '../middleware/index.ts';
import {
  createFunctionLog,
  createInvoker,
  createLayeredTools,
  createResolveMetrics,
  methodsOf,
  readEntriesAtOnce,
  readFunctionEnvironment,
  required,
} from '../runtime/index.ts';
import { wakingAhead } from '../stream-host/index.ts';

/** Where Lambda unpacks layers. */
const LAYER = '/opt';
/** Milliseconds from the start of the process: at ten seconds Lambda ends an environment that is not ready, and begins anew. */
const START_TIME = 8_000;
/** Milliseconds that an answer waits to be told whether there are tools. */
const LOOK_PATIENCE = 15_000;

const log = createFunctionLog();
const environment = readFunctionEnvironment(process.env);
const settings = await readSettingsInAws(process.env);
const state = createState({ client: {}, tableName: environment.tableName, log });
const egress = createEgress({ allow: settings.egressAllow, outgoingProxies: settings.outgoingProxies, log });
// A layer without tools is the maintenance state: the table says which, and this function answers all the same.
const tools = createLayeredTools({
  find: () => findLayeredYtDlp(process.env.TOOLS_LAYER_DIR ?? LAYER, join(tmpdir(), 'yt-dlp')),
  log,
});
const invoker = createInvoker();
const ownName = required(process.env, 'AWS_LAMBDA_FUNCTION_NAME');
const extraction = createResolver({
  ...settings,
  tools,
  egress,
  state,
  log,
  entriesAtOnce: readEntriesAtOnce(process.env),
  resolveEntry: createFanOut({ state, invoke: (event, signal) => invoker.call(ownName, event, signal) }),
});
// While this environment starts rather than while somebody waits. One that does not start is told by the first question.
const warm = tools
  .look()
  .then(extraction.warm)
  .catch((error) => log.error('yt-dlp does not start', { error: String(error) }));
await waitAtMost(warm, START_TIME - performance.now());

const resolveEntry = createResolveEntry({ extraction, log });
const wakeFunction = process.env.WAKE_FUNCTION?.trim();
const resolve = measured(
  createGetResource({ ...environment, state, extraction, methods: methodsOf('GetResource'), log }),
  createResolveMetrics(environment.stage),
);
const answer = wakeFunction ? wakingAhead(resolve, { wakeFunction, invoker, log }) : resolve;

export const handler = async (event: Event | EntryEvent, context: never) => {
  await waitAtMost(tools.look(), LOOK_PATIENCE);
  return 'kind' in event ? resolveEntry(event) : answer(event, context);
};
