import type { YtDlp } from '../../layers/tools/tools.ts';

/** Replaces the plugin folder of the worker by one that does not exist, as far as the arguments name it. */
const WITHOUT_WORKER = `
import os, sys
args = ['/nonexistent' if arg.endswith('/worker/plugins') else arg for arg in sys.argv[1:]]
os.execv(args[0], args)`;

/** A release whose command line works, and which does not load the plugin of the warm worker. */
export const misfit = (ytDlp: YtDlp): YtDlp => ({
  ...ytDlp,
  command: [ytDlp.command[0], '-I', '-c', WITHOUT_WORKER, ...ytDlp.command],
});
