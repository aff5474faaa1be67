/** Entry point of the stream service as a Lambda Web Function. */
import { setFlagsFromString } from 'node:v8';
import { runTask } from '../task/index.ts';
import { webFunctionEnvironment } from './environment.ts';

// Lambda starts Node without the flags of node-flags.json. The young generation is sized before any code runs.
setFlagsFromString('--heap-growing-percent=40');

/** Lambda ends the process a second after SIGTERM, and lets running requests finish before that. */
const DRAIN_SECONDS = 0.5;

await runTask({
  readEnvironment: () => webFunctionEnvironment(process.env, import.meta.dirname),
  drainSeconds: DRAIN_SECONDS,
});
