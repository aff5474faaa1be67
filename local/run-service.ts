import { readSettings, SettingError, type Settings } from '../core/config/index.ts';
import { messageOf } from '../core/errors/index.ts';
import { isLoopback, loadDotEnv, shutdownOnSignals } from './process.ts';
import { type PrebuiltParts, startService } from './service/index.ts';
import { createProcessLog, createTerminal, type Terminal } from './terminal.ts';

/** EX_SOFTWARE of sysexits.h. Unlike 1, which reports a start that cannot succeed, it makes the supervisor restart. */
const CRASHED = 70;

/**
 * Runs the service as this process: settings from its environment and `.env`, lines for the operator, shutdown by
 * signals.
 */
export async function runService(prebuilt?: PrebuiltParts): Promise<void> {
  const { settings, unknown } = readSettingsOrExit();
  const terminal = createTerminal(process.stdout, settings.logFormat);
  const log = createProcessLog(process.stderr, terminal, settings.logFormat);
  const fail = (error: unknown): never => exitWith(error, terminal);
  if (unknown.length > 0) log.warn('Variables in .env are not settings', { names: unknown });

  process.on('uncaughtException', (error) => {
    log.error('Service failed', { error });
    process.exit(CRASHED);
  });

  const service = await startService({
    settings,
    log,
    onProgress: terminal.progress,
    onNotice: terminal.say,
    prebuilt,
  }).catch(fail);
  const { version, baseUrl, networkUrl } = service;
  terminal.say(`Reelay ${version} listening on ${baseUrl}`);
  if (networkUrl && networkUrl !== baseUrl) terminal.say(`Other devices open ${networkUrl}`);
  else if (!networkUrl && isLoopback(settings.host))
    terminal.say(
      'Other devices cannot reach it: HOST=0.0.0.0 opens it to the network, PUBLIC_URL names the address of a proxy',
    );

  shutdownOnSignals(terminal, service.close);

  await service.ready.then(
    ({ ytDlp, ffmpeg }) => {
      terminal.done();
      terminal.say(
        `Ready: yt-dlp ${ytDlp.version} (${ytDlp.source}), FFmpeg ${ffmpeg.version} (${ffmpeg.source}), JavaScript runtime Node ${process.versions.node}`,
      );
    },
    async (error) => {
      await service.close();
      fail(error);
    },
  );
}

/** The settings, and the names in `.env` that are none. */
function readSettingsOrExit(): { readonly settings: Settings; readonly unknown: readonly string[] } {
  try {
    const unknown = loadDotEnv();
    const settings = readSettings(process.env);
    // Only their hashes are kept.
    delete process.env.ACCESS_KEYS;
    return { settings, unknown };
  } catch (error) {
    if (error instanceof SettingError) return exitWith(error, createTerminal(process.stdout));
    throw error;
  }
}

/** Prints one line and exits with 1. */
function exitWith(error: unknown, terminal: Terminal): never {
  terminal.done();
  terminal.say(messageOf(error));
  process.exit(1);
}
