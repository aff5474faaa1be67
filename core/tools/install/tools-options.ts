import type { Log } from '../../log/index.ts';
import type { Download } from '../release/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import type { Activity, Ffmpeg, ToolsChannel, ToolsInPlace, YtDlp, YtDlpMode } from '../tools.ts';

export interface ToolsOptions {
  /** Where versions are installed side by side. Several processes may share it. */
  readonly dir: string;
  readonly channel: ToolsChannel;
  /** The operator's own program: no provider is tried, and it is never updated. */
  readonly ytDlpPath?: string | undefined;
  readonly ffmpegPath?: string | undefined;
  /** A read-only folder with an unpacked release of yt-dlp: the first provider. It is not copied. */
  readonly ytDlpDir?: string | undefined;
  /** The guarded HTTP client of core/egress, for downloads by this process. */
  readonly download: Download;
  /** Called for each step, and again as bytes arrive. Not called when everything is installed. */
  readonly onActivity: (activity: Activity) => void;
  /**
   * @param onUnsolvedChallenge called with why a candidate that works does not solve JavaScript challenges
   * @returns the mode in which a candidate works; undefined: to be found out when it starts
   * @throws when it works in none; the signal is aborted when the tools are closed
   */
  readonly smokeTest: (
    candidate: YtDlp,
    signal: AbortSignal,
    onUnsolvedChallenge: (reason: string) => void,
  ) => Promise<YtDlpMode | undefined>;
  /** Stores what is installed, for the rest of the instance. */
  readonly record: (inPlace: ToolsInPlace) => Promise<void>;
  /** Called with one line when an update failed; the current version stays in use. */
  readonly onFailure?: (reason: string) => void;
  /** How often to check what other processes have installed in `dir`. @default never */
  readonly reloadIntervalMs?: number;
  readonly log?: Log;
  /** In the order to try them. @default release, PyPI, system for yt-dlp; release, PyPI for its alternative; system, npm, PyPI for FFmpeg */
  readonly providers?: {
    readonly ytDlp?: readonly ToolProvider<YtDlp>[];
    readonly alternative?: readonly ToolProvider<YtDlp>[];
    readonly ffmpeg?: readonly ToolProvider<Ffmpeg>[];
  };
}
