export type { ToolProvider } from './tool-provider.ts';
export type { Activity, Ffmpeg, Tools, YtDlp } from './tools.ts';
export { compareVersions, isReleaseTag } from './versions.ts';
