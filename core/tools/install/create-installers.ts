import { join, resolve } from 'node:path';
import type { Log } from '../../log/index.ts';
import { ffmpegAtPath, ffmpegFromNpm, ffmpegFromPypi, ffmpegOfSystem } from '../ffmpeg/index.ts';
import type { Ffmpeg, YtDlp } from '../tools.ts';
import { ytDlpAtPath, ytDlpFromPypi, ytDlpInFolder, ytDlpOfSystem, ytDlpRelease } from '../yt-dlp/index.ts';
import { createInstaller, type Installer } from './installer.ts';
import type { ToolsOptions } from './tools-options.ts';
import { createVersionStore } from './version-store.ts';

export interface Installers {
  readonly ytDlp: Installer<YtDlp>;
  readonly ffmpeg: Installer<Ffmpeg>;
  /** Of the nightly release beside the stable one; undefined unless the settings allow one. */
  readonly alternative: Installer<YtDlp> | undefined;
}

/** The installers of all tools, with the providers that the options select. `signal` ends a smoke test. */
export function createInstallers(options: ToolsOptions & { readonly log: Log }, signal: AbortSignal): Installers {
  const { dir, channel, smokeTest, providers, ytDlpDir, onActivity, onFailure = () => undefined, log } = options;
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
  const ofChannel = (channel: 'stable' | 'nightly') => [
    ytDlpRelease({ download: options.download, channel }),
    ytDlpFromPypi({ channel }),
  ];
  const ytDlpProviders = providers?.ytDlp ?? [
    ...ofChannel(channel === 'nightly' ? 'nightly' : 'stable'),
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
      ...{ check, onActivity, onFailure, log },
    }),
    ffmpeg: createInstaller<Ffmpeg>({
      name: 'FFmpeg',
      store: createVersionStore(join(dir, 'ffmpeg'), ({ path }) => [path]),
      providers: ffmpegPath
        ? [ffmpegAtPath(ffmpegPath)]
        : (providers?.ffmpeg ?? [ffmpegOfSystem(), ffmpegFromNpm(), ffmpegFromPypi()]),
      isAllowed: ({ path, source }) => (ffmpegPath ? path === ffmpegPath : source !== 'path'),
      check: async () => undefined, // each provider of FFmpeg has encoded and muxed with it
      ...{ onActivity, onFailure, log },
    }),
    alternative: hasAlternative
      ? createInstaller<YtDlp>({
          name: 'yt-dlp nightly',
          store: createVersionStore(join(dir, 'yt-dlp-nightly'), ({ command }) => command),
          providers: providers ? (providers.alternative ?? []) : ofChannel('nightly'),
          isAllowed: () => true,
          // No activity: the instance works meanwhile, and its callers would be told that it is in maintenance.
          ...{ check, onActivity: () => undefined, onFailure: () => undefined, log },
        })
      : undefined,
  };
}
