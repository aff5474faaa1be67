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
  /** Called with what is being done to the tools. */
  readonly onProgress?: (activity: Activity) => void;
}

export interface ToolsInPlace {
  readonly ytDlp: YtDlp;
  readonly ffmpeg: Ffmpeg;
}

/** The tools of this machine: fetched at the start, looked after on a schedule, their maintenance said in the table. */
export interface LocalTools extends Pick<Tools, 'ytDlp' | 'ffmpeg' | 'update'> {
  /** Installs what is missing, then looks for newer versions on schedule. @throws ToolUnavailable */
  ensure(): Promise<ToolsInPlace>;
  close(): Promise<void>;
}

const HOUR = 3_600_000;
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
    // As a resolve would: behind a proxy there may be no other way.
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
  const updateOnSchedule = () =>
    update().catch((error) => log.error('The tools could not be updated', { error: String(error) }));

  return {
    ytDlp: tools.ytDlp,
    ffmpeg: tools.ffmpeg,
    update,
    async ensure() {
      await maintenance.takeOver();
      await tools.ensure().finally(maintenance.leave);
      const [ytDlp, ffmpeg] = [tools.ytDlp(), tools.ffmpeg()];
      if (!ytDlp || !ffmpeg) throw new Error('The tools are not in place');
      const { toolsUpdateHours: hours } = settings;
      if (hours > 0) timer = setInterval(updateOnSchedule, hours * HOUR).unref();
      return { ytDlp, ffmpeg };
    },
    async close() {
      clearInterval(timer);
      await tools.close();
      await maintenance.leave();
    },
  };
}
