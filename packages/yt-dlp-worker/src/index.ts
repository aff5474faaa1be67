export { type Download, downloadFile } from './download.ts';
export { createTools, type ToolsOptions } from './install/index.ts';
export {
  cpuTimeMs,
  endWithParent,
  isStopped,
  killWhenStopped,
  missingFrom,
  neededCapabilities,
  type Sandbox,
  syscallFilter,
} from './process/index.ts';
export { smokeTestYtDlp } from './smoke-test.ts';
export {
  createSupervisor,
  type InstalledYtDlp,
  type Supervisor,
  type SupervisorOptions,
  startYtDlp,
} from './supervisor.ts';
export {
  type Activity,
  type FetchOptions,
  type Ffmpeg,
  type ToolProvider,
  type Tools,
  type ToolsInPlace,
  ToolUnavailable,
  type YtDlp,
  type YtDlpMode,
} from './tools.ts';
export { compareVersions, isReleaseTag } from './versions.ts';
export type {
  OperatorCookie,
  OperatorOptions,
  WorkerFailure,
  WorkerFailureKind,
  WorkerOptions,
  WorkerProcess,
  WorkerResponse,
} from './worker/index.ts';
export {
  assetFor,
  createReleases,
  type FetchedRelease,
  findLayeredYtDlp,
  listImpersonateTargets,
  locateLayeredYtDlp,
  offersTarget,
  pythonForYtDlp,
  type Releases,
  readVersion,
  unpackRelease,
  unpackYtDlp,
} from './yt-dlp/index.ts';
