import {
  type Activity,
  createTools,
  type Ffmpeg,
  smokeTestYtDlp,
  type Tools,
  type ToolsOptions,
  type YtDlp,
} from '@reelay/yt-dlp-worker';
import type { Settings } from '../../core/config/index.ts';
import { type Egress, openLoopbackProxy } from '../../core/egress/index.ts';
import { InMaintenance } from '../../core/errors/index.ts';
import { type Log, silentLog } from '../../core/log/index.ts';
import { checkLinks } from '../../core/resolve/index.ts';
import type { State } from '../../core/state/index.ts';
import { createMaintenanceKeeper } from './maintenance.ts';

interface LocalToolsOptions {
  readonly settings: Settings;
  readonly state: State;
  readonly egress: Egress;
  readonly log?: Log;
  /** A read-only folder with an unpacked release of yt-dlp, used until a newer one is installed. */
  readonly ytDlpDir?: string | undefined;
  /** Called with each activity of fetching or updating tools. */
  readonly onProgress?: (activity: Activity) => void;
  /** Called with a line that says where a tool comes from, where that is not the first choice. */
  readonly onNotice?: ((line: string) => void) | undefined;
}

export interface ToolsInPlace {
  readonly ytDlp: YtDlp;
  readonly ffmpeg: Ffmpeg;
}

/** The tools of this machine: installed at the start, updated on a schedule, with a maintenance record in the table. */
interface LocalTools extends Pick<Tools, 'ytDlp' | 'ffmpeg'> {
  /** Waits for the check of what is installed. @throws InMaintenance once something is fetched or checked for longer */
  inPlace(): Promise<void>;
  /** The step of an install or update that runs at the moment. */
  activity(): Activity | undefined;
  /** Installs missing tools, then schedules update checks. @throws ToolUnavailable */
  ensure(): Promise<ToolsInPlace>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** Requests wait for the first check of the installed tools; after this time they get 503 with the activity. */
const MAX_SILENT_CHECK_MS = 10_000;
const CHECKING: Activity = { name: 'Checking tools' };
/** Within this a running service loads what `npm run update-tools` has installed. */
const RELOAD_INTERVAL_MS = 2_000;

export function createLocalTools(options: LocalToolsOptions): LocalTools {
  const { settings, state, egress, log = silentLog, ytDlpDir, onProgress, onNotice } = options;
  const maintenance = createMaintenanceKeeper({ state, log });
  let current: Activity | undefined;
  let timer: NodeJS.Timeout | undefined;
  let slow: NodeJS.Timeout | undefined;
  /** Settles with the first activity, or with the check of what is installed. */
  const isKnown = Promise.withResolvers<void>();
  const onActivity = (activity: Activity) => {
    current = activity;
    void maintenance.enter(activity.name);
    isKnown.resolve();
    onProgress?.(activity);
  };
  const tools = createTools({
    ...toToolsOptions(settings, { egress, log }),
    ytDlpDir,
    onActivity,
    onNotice,
    record: (inPlace) => state.putTools(inPlace).catch((error) => log.warn('Recording the tools failed', { error })),
    reloadIntervalMs: RELOAD_INTERVAL_MS,
    log,
  });

  const leave = () => {
    current = undefined;
    return maintenance.leave();
  };
  const update = () =>
    void tools
      .update()
      .finally(leave)
      .catch((error) => log.error('Updating tools failed', { error }));

  return {
    activity: () => current,
    async inPlace() {
      await isKnown.promise;
      if (!tools.ytDlp() && current) throw new InMaintenance(current.name);
    },
    ytDlp: tools.ytDlp,
    ffmpeg: tools.ffmpeg,
    async ensure() {
      await maintenance.takeOver();
      slow = setTimeout(() => {
        if (!current) onActivity(CHECKING);
      }, MAX_SILENT_CHECK_MS);
      await tools.ensure().finally(() => {
        clearTimeout(slow);
        isKnown.resolve();
        return leave();
      });
      const [ytDlp, ffmpeg] = [tools.ytDlp(), tools.ffmpeg()];
      if (!ytDlp || !ffmpeg) throw new Error('Tools are not installed');
      const { toolsUpdateHours: hours } = settings;
      if (hours > 0) {
        timer = setInterval(update, hours * HOUR_MS).unref();
        // An image may be months old.
        if (ytDlpDir !== undefined) update();
      }
      return { ytDlp, ffmpeg };
    },
    async close() {
      clearInterval(timer);
      clearTimeout(slow);
      await tools.close();
      await leave();
    },
  };
}

/** The options of `createTools` that the service and `npm run update-tools` have in common: they share the folder. */
export const toToolsOptions = (
  settings: Settings,
  { egress, log = silentLog }: Pick<LocalToolsOptions, 'egress' | 'log'>,
) =>
  ({
    dir: settings.toolsDir,
    channel: settings.toolsChannel,
    ytDlpPath: settings.ytDlpPath,
    ffmpegPath: settings.ffmpegPath,
    // Through the outgoing proxies, like a resolve: there may be no direct way out.
    download: (url, options) => egress.request(url, { ...options, identity: egress.nextIdentity() }),
    smokeTest: (candidate, signal, onUnsolvedChallenge) =>
      smokeTestYtDlp(candidate, { openProxy: openLoopbackProxy, signal, onUnsolvedChallenge }),
    checkUpdate: (candidate, signal) =>
      checkLinks(candidate, { ...settings, links: settings.canaryLinks, egress, log, signal }),
  }) satisfies Partial<ToolsOptions>;
