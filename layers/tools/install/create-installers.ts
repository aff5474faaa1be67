import { join, resolve } from 'node:path';
import type { Log } from '../../../core/log/index.ts';
import { ffmpegAtPath, ffmpegFromNpm, ffmpegFromPypi, ffmpegOfSystem } from '../ffmpeg/index.ts';
import type { Ffmpeg, YtDlp } from '../tools.ts';
import { ytDlpAtPath, ytDlpFromPypi, ytDlpInFolder, ytDlpOfSystem, ytDlpRelease } from '../yt-dlp/index.ts';
import { createInstaller, type Installer } from './installer.ts';
import type { ToolsOptions } from './tools-options.ts';
import { createVersionStore } from './version-store.ts';

export interface Installers {
  readonly ytDlp: Installer<YtDlp>;
  readonly ffmpeg: Installer<Ffmpeg>;
}

/** The installers of both tools, with the providers that the options select. `signal` ends a smoke test. */
export function createInstallers(options: ToolsOptions & { readonly log: Log }, signal: AbortSignal): Installers {
  const {
    dir,
    channel,
    download,
    smokeTest,
    providers,
    ytDlpDir,
    onActivity,
    onFailure = () => undefined,
    log,
  } = options;
  // Absolute: programs are started in other working directories.
  const ytDlpPath = options.ytDlpPath && resolve(options.ytDlpPath);
  const ffmpegPath = options.ffmpegPath && resolve(options.ffmpegPath);
  const ytDlpProviders = providers?.ytDlp ?? [
    ytDlpRelease({ download, channel }),
    ytDlpFromPypi({ channel }),
    ytDlpOfSystem(),
  ];
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
      check: async (candidate) => {
        const mode = await smokeTest(candidate, signal);
        if (mode !== 'process-per-link') return undefined;
        log.warn('yt-dlp works as one process per link only', { version: candidate.version });
        return { mode };
      },
      ...{ onActivity, onFailure, log },
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
  };
}
