/** The two programs this service stands on, kept in place and up to date. */
export interface Tools {
  /** Absent until the first install is done. */
  ytDlp(): YtDlp | undefined;
  ffmpeg(): Ffmpeg | undefined;
  /** Installs what is missing. @throws ToolUnavailable when no source has one. */
  ensure(): Promise<void>;
  /** Looks for newer versions and switches to what passes its smoke test. Resolves to what changed. */
  update(): Promise<{ readonly ytDlp: boolean; readonly ffmpeg: boolean }>;
}

/** One version of yt-dlp in place. */
export interface YtDlp {
  readonly version: string;
  /** What to spawn: the program and the arguments before yt-dlp's own, e.g. `['/usr/bin/python3', '/…/yt_dlp']`. */
  readonly command: readonly [string, ...string[]];
  readonly source: ToolSource;
}

/** One build of FFmpeg in place. */
export interface Ffmpeg {
  readonly version: string;
  readonly path: string;
  readonly source: ToolSource;
  /** Names the encoder build: two builds of one version differ. Hex. */
  readonly buildId: string;
}

/** Where a tool came from, which also says who vouches for it. */
export type ToolSource = 'path' | 'release' | 'pypi' | 'system' | 'npm';

/** What is being done, as `maintenance` tells it: `Downloading yt-dlp`. */
export interface Activity {
  readonly name: string;
  /** So far. */
  readonly bytes?: number;
  readonly totalBytes?: number;
}

/** The tools in place, for whoever has to know without having them. */
export interface ToolsInPlace {
  /** Versions. */
  readonly ytDlp: string;
  readonly ffmpeg: string;
  /** Who vouches for them: `signature`, `registry`, `system`, `path`. */
  readonly verifiedBy: Readonly<{ ytDlp: string; ffmpeg: string }>;
  /** Epoch seconds. */
  readonly installedAt: number;
}

/** No source has the tool. The message is one line for the operator. */
export class ToolUnavailable extends Error {
  override readonly name = 'ToolUnavailable';
}
