export { type Download, downloadFile } from './download.ts';
export { createTools, type ToolsOptions } from './install/create-tools.ts';
export { cpuTimeMs, endWithParent, isStopped, killWhenStopped } from './process/process-end.ts';
export { confine, launchCommand, missingFrom, type Sandbox } from './process/sandbox.ts';
export { type SmokeTestResult, smokeTestYtDlp } from './smoke-test.ts';
export {
  createSupervisor,
  type InstalledYtDlp,
  type Supervisor,
  type SupervisorOptions,
  startYtDlp,
} from './supervisor.ts';
export {
  type Activity,
  compareVersions,
  type FetchOptions,
  type Ffmpeg,
  isReleaseTag,
  type KnownSites,
  type ToolProvider,
  type Tools,
  type ToolsInPlace,
  ToolUnavailable,
  type YtDlp,
  type YtDlpMode,
} from './tools.ts';
export type { OperatorOptions } from './worker/process-home.ts';
export type { WorkerOptions, WorkerProcess } from './worker/worker-process.ts';
export type { OperatorCookie, WorkerFailure, WorkerFailureKind, WorkerResponse } from './worker/worker-protocol.ts';
export { findLayeredYtDlp, locateLayeredYtDlp, readVersion } from './yt-dlp/layered-yt-dlp.ts';
export { pythonForYtDlp } from './yt-dlp/providers.ts';
export { listImpersonateTargets, offersTarget } from './yt-dlp/query-yt-dlp.ts';
export { assetFor, unpackRelease, unpackYtDlp } from './yt-dlp/release-archive.ts';
export { createReleases, type FetchedRelease, type Releases } from './yt-dlp/releases.ts';
