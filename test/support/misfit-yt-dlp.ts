import type { YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';

/** Replaces the plugin folder of the worker by one that does not exist, as far as the arguments name it. */
const WITHOUT_WORKER = `
for arg do
  shift
  case $arg in */layers/tools/plugins) arg=/nonexistent ;; esac
  set -- "$@" "$arg"
done
exec "$@"`;

/** A release whose command line works, and which does not load the plugin of the warm worker. */
export const misfit = (ytDlp: YtDlp): YtDlp => ({
  ...ytDlp,
  command: ['/bin/sh', '-c', WITHOUT_WORKER, 'yt-dlp', ...ytDlp.command],
});
