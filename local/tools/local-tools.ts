import type { Settings } from '../../core/config/index.ts';
import { type Egress, openLoopbackProxy } from '../../core/egress/index.ts';
import { type Log, silentLog } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';
import {
  type Activity,
  createTools,
  type Ffmpeg,
  smokeTestYtDlp,
  type Tools,
  type YtDlp,
} from '../../layers/tools/index.ts';
import { createMaintenanceKeeper } from './maintenance.ts';

export interface LocalToolsOptions {
  readonly settings: Settings;
  readonly state: State;
  readonly egress: Pick<Egress, 'nextIdentity' | 'request'>;
  readonly log?: Log;
  /** Called with each activity of fetching or updating tools. */
  readonly onProgress?: (activity: Activity) => void;
}

export interface ToolsInPlace {
  readonly ytDlp: YtDlp;
  readonly ffmpeg: Ffmpeg;
}

/** The tools of this machine: installed at the start, updated on a schedule, with a maintenance record in the table. */
export interface LocalTools extends Pick<Tools, 'ytDlp' | 'ffmpeg' | 'update'> {
  /** Installs missing tools, then schedules update checks. @throws ToolUnavailable */
  ensure(): Promise<ToolsInPlace>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;
/** Milliseconds within which a service takes up what `npm run update-tools` has put in place beside it. */
const FOLLOW_EVERY = 2_000;

export function createLocalTools(options: LocalToolsOptions): LocalTools {
  const { settings, state, egress, log = silentLog, onProgress } = options;
  const maintenance = createMaintenanceKeeper({ state, log });
  const tools = createTools({
    dir: settings.toolsDir,
    channel: settings.toolsChannel,
    ytDlpPath: settings.ytDlpPath,
    ffmpegPath: settings.ffmpegPath,
    // Through the outgoing proxies, like a resolve: there may be no direct way out.
    download: (url, options) => egress.request(url, { ...options, identity: egress.nextIdentity() }),
    onActivity: (activity) => {
      void maintenance.enter(activity.name);
      onProgress?.(activity);
    },
    smokeTest: (candidate, signal) => smokeTestYtDlp(candidate, { openProxy: openLoopbackProxy, signal }),
    record: state.putTools,
    reloadIntervalMs: FOLLOW_EVERY,
    log,
  });
  let timer: NodeJS.Timeout | undefined;

  const update = () => tools.update().finally(maintenance.leave);
  const updateOnSchedule = () => update().catch((error) => log.error('Updating tools failed', { error }));

  return {
    ytDlp: tools.ytDlp,
    ffmpeg: tools.ffmpeg,
    update,
    async ensure() {
      await maintenance.takeOver();
      await tools.ensure().finally(maintenance.leave);
      const [ytDlp, ffmpeg] = [tools.ytDlp(), tools.ffmpeg()];
      if (!ytDlp || !ffmpeg) throw new Error('Tools are not installed');
      const { toolsUpdateHours: hours } = settings;
      if (hours > 0) timer = setInterval(updateOnSchedule, hours * HOUR_MS).unref();
      return { ytDlp, ffmpeg };
    },
    async close() {
      clearInterval(timer);
      await tools.close();
      await maintenance.leave();
    },
  };
}
