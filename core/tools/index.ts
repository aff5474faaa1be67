export { createTools, type ToolsOptions } from './install/index.ts';
export {
  cpuTimeMs,
  endWithParent,
  findPython,
  isStopped,
  killWhenStopped,
  SETPRIV,
  setprivCommand,
  syscallFilter,
} from './process/index.ts';
export {
  createReleases,
  type Download,
  downloadFile,
  type FetchedRelease,
  type Releases,
  type ReleasesOptions,
} from './release/index.ts';
export { smokeTestYtDlp, startYtDlp } from './runner/index.ts';
export type { FetchOptions, ToolProvider } from './tool-provider.ts';
export {
  type Activity,
  type Ffmpeg,
  type Tools,
  type ToolsChannel,
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
  WorkerSandbox,
} from './worker/index.ts';
export {
  assetFor,
  findLayeredYtDlp,
  listImpersonateTargets,
  locateLayeredYtDlp,
  offersTarget,
  readVersion,
  unpackRelease,
  unpackYtDlp,
} from './yt-dlp/index.ts';
