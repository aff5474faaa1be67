import { join, resolve } from 'node:path';
import type { Log } from '../../log/index.ts';
import { ffmpegAtPath, ffmpegFromNpm, ffmpegFromPypi, ffmpegOfSystem } from '../ffmpeg/index.ts';
import type { Download } from '../release/index.ts';
import type { Activity, Ffmpeg, ToolProvider, ToolsChannel, ToolsInPlace, YtDlp, YtDlpMode } from '../tools.ts';
import { ytDlpAtPath, ytDlpFromPypi, ytDlpInFolder, ytDlpOfSystem, ytDlpRelease } from '../yt-dlp/index.ts';
import { createInstaller, type Installer } from './installer.ts';
import { createVersionStore } from './version-store.ts';

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

export interface Installers {
  readonly ytDlp: Installer<YtDlp>;
  readonly ffmpeg: Installer<Ffmpeg>;
  /** For the nightly release beside the stable one; undefined unless the settings allow one. */
  readonly alternative: Installer<YtDlp> | undefined;
}

/** The installers of all tools, with the providers that the options select. */
export function createInstallers(
  options: ToolsOptions & { readonly log: Log; readonly signal: AbortSignal },
): Installers {
  const {
    dir,
    channel,
    smokeTest,
    providers,
    ytDlpDir,
    onActivity,
    onFailure = () => undefined,
    log,
    signal,
  } = options;
  // Absolute: programs are started in other working directories.
  const ytDlpPath = options.ytDlpPath && resolve(options.ytDlpPath);
  const ffmpegPath = options.ffmpegPath && resolve(options.ffmpegPath);
  const check = async (candidate: YtDlp) => {
    const mode = await smokeTest(candidate, signal, (reason) =>
      log.warn('yt-dlp does not solve the JavaScript challenges of YouTube', { version: candidate.version, reason }),
    );
    if (mode !== 'process-per-link') return undefined;
    log.warn('yt-dlp works as one process per link only', { version: candidate.version });
    return { mode } as const;
  };
  const createProviders = (channel: 'stable' | 'nightly') => [
    ytDlpRelease({ download: options.download, channel }),
    ytDlpFromPypi({ channel }),
  ];
  const ytDlpProviders = providers?.ytDlp ?? [
    ...createProviders(channel === 'nightly' ? 'nightly' : 'stable'),
    ytDlpOfSystem(),
  ];
  const hasAlternative = channel === 'auto' && !ytDlpPath;
  return {
    ytDlp: createInstaller<YtDlp>({
      name: 'yt-dlp',
      store: createVersionStore(join(dir, 'yt-dlp'), ({ command }) => command),
      providers: ytDlpPath
        ? [ytDlpAtPath(ytDlpPath)]
        : ytDlpDir
          ? [ytDlpInFolder(ytDlpDir), ...ytDlpProviders]
          : ytDlpProviders,
      isAllowed: ({ source, command }) => (ytDlpPath ? command.includes(ytDlpPath) : source !== 'path'),
      ...{ check, onActivity, onFailure, log, signal },
    }),
    ffmpeg: createInstaller<Ffmpeg>({
      name: 'FFmpeg',
      store: createVersionStore(join(dir, 'ffmpeg'), ({ path }) => [path]),
      providers: ffmpegPath
        ? [ffmpegAtPath(ffmpegPath)]
        : (providers?.ffmpeg ?? [ffmpegOfSystem(), ffmpegFromNpm(), ffmpegFromPypi()]),
      isAllowed: ({ path, source }) => (ffmpegPath ? path === ffmpegPath : source !== 'path'),
      check: async () => undefined, // each provider of FFmpeg has encoded and muxed with it
      ...{ onActivity, onFailure, log, signal },
    }),
    alternative: hasAlternative
      ? createInstaller<YtDlp>({
          name: 'yt-dlp nightly',
          store: createVersionStore(join(dir, 'yt-dlp-nightly'), ({ command }) => command),
          providers: providers ? (providers.alternative ?? []) : createProviders('nightly'),
          isAllowed: () => true,
          // No activity: the instance works meanwhile, and its callers would be told that it is in maintenance.
          ...{ check, onActivity: () => undefined, onFailure: () => undefined, log, signal },
        })
      : undefined,
  };
}
