import { join, resolve } from 'node:path';
import type { Log } from '../../../core/log/index.ts';
import { ffmpegAtPath, ffmpegFromNpm, ffmpegFromPypi, ffmpegOfSystem } from '../ffmpeg/index.ts';
import type { Ffmpeg, ToolSource, ToolsInPlace, YtDlp } from '../tools.ts';
import { ytDlpAtPath, ytDlpFromPypi, ytDlpOfSystem, ytDlpRelease } from '../yt-dlp/index.ts';
import { createInstaller, type Installer } from './installer.ts';
import type { ToolsOptions } from './tools-options.ts';
import { createVersionStore, type InstalledVersion } from './version-store.ts';

/** How the tools of each source are verified. */
const VERIFIED_BY: Readonly<Record<ToolSource, string>> = {
  path: 'path',
  release: 'signature',
  pypi: 'registry',
  system: 'system',
  npm: 'registry',
};

export interface Installers {
  readonly ytDlp: Installer<YtDlp>;
  readonly ffmpeg: Installer<Ffmpeg>;
}

/** The installers of both tools, with the providers that the options select. `signal` ends a smoke test. */
export function createInstallers(options: ToolsOptions & { readonly log: Log }, signal: AbortSignal): Installers {
  const { dir, channel, download, smokeTest, providers, onActivity, onFailure = () => undefined, log } = options;
  // Absolute: programs are started in other working directories.
  const ytDlpPath = options.ytDlpPath && resolve(options.ytDlpPath);
  const ffmpegPath = options.ffmpegPath && resolve(options.ffmpegPath);
  return {
    ytDlp: createInstaller<YtDlp>({
      name: 'yt-dlp',
      store: createVersionStore(join(dir, 'yt-dlp'), ({ command }) => command),
      providers: ytDlpPath
        ? [ytDlpAtPath(ytDlpPath)]
        : (providers?.ytDlp ?? [ytDlpRelease({ download, channel }), ytDlpFromPypi({ channel }), ytDlpOfSystem()]),
      isAllowed: ({ source, command }) => (ytDlpPath ? command.includes(ytDlpPath) : source !== 'path'),
      check: (candidate) => smokeTest(candidate, signal),
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

/** The record of both tools; undefined while one is missing. */
export function describeInstalled(
  ytDlp: InstalledVersion<YtDlp> | undefined,
  ffmpeg: InstalledVersion<Ffmpeg> | undefined,
): ToolsInPlace | undefined {
  if (!ytDlp || !ffmpeg) return undefined;
  return {
    ytDlp: ytDlp.tool.version,
    ffmpeg: ffmpeg.tool.version,
    verifiedBy: { ytDlp: VERIFIED_BY[ytDlp.tool.source], ffmpeg: VERIFIED_BY[ffmpeg.tool.source] },
    installedAt: Math.max(ytDlp.installedAt, ffmpeg.installedAt),
  };
}
