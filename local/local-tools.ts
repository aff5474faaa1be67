import {
  type Activity,
  createTools,
  type Ffmpeg,
  smokeTestYtDlp,
  type Tools,
  type ToolsOptions,
  type YtDlp,
} from '@reelay/yt-dlp-worker';
import type { Settings } from '../core/config/index.ts';
import { createEgress, type Egress, openLoopbackProxy } from '../core/egress/index.ts';
import { InMaintenance } from '../core/errors/index.ts';
import { type Log, silentLog } from '../core/log/index.ts';
import { checkLinks } from '../core/resolve/index.ts';
import type { State } from '../core/state/index.ts';

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
        // The release in an image may be months old.
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

/** Longer than a renewal may be delayed, short enough to expire soon after a crash. */
const LEASE_SECONDS = 60;
const RENEW_INTERVAL_MS = 20_000;

/** The maintenance lease of this machine: held from the first activity until `leave`. */
interface MaintenanceKeeper {
  /** Ends a lease left by a crashed process, whatever its expiry. To be called at the start, before any activity. */
  takeOver(): Promise<void>;
  /** Sets the activity. The first call takes the lease, so that an update check without a result takes none. */
  enter(activity: string): Promise<void>;
  /** Ends the lease; does nothing without one. */
  leave(): Promise<void>;
}

/**
 * Renews the lease while an activity runs. The table's folder is locked by one process, so a lease found at the start
 * belongs to a crashed one.
 */
function createMaintenanceKeeper({ state, log }: { state: State; log: Log }): MaintenanceKeeper {
  const owner = 'this machine';
  let current: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const renew = async (activity: string): Promise<void> => {
    try {
      await state.takeMaintenance({ activity, owner, expiresAt: Math.floor(Date.now() / 1000) + LEASE_SECONDS });
    } catch (error) {
      log.warn('Writing maintenance lease failed', { error });
    }
  };

  // A failure needs no retry: the lease expires by itself.
  const end = () =>
    state.endMaintenance(owner).catch((error) => log.warn('Ending maintenance lease failed', { error }));

  return {
    takeOver: end,
    async enter(activity) {
      if (activity === current) return;
      current = activity;
      timer ??= setInterval(() => current && void renew(current), RENEW_INTERVAL_MS).unref();
      await renew(activity);
    },
    async leave() {
      if (current === undefined) return;
      current = undefined;
      clearInterval(timer);
      timer = undefined;
      await end();
    },
  };
}

interface UpdateNowOptions {
  readonly settings: Settings;
  readonly onProgress: (activity: Activity) => void;
  readonly signal: AbortSignal;
  readonly sources?: ToolsOptions['providers'];
}

/** The result of an update on demand, in lines for the operator. */
interface UpdateNowOutcome {
  /** The installed version, one line per tool. */
  readonly inPlace: readonly string[];
  /** Which updates failed and why; the installed versions stay. */
  readonly failures: readonly string[];
}

/**
 * Updates the tools in a folder that a running service may use: it switches between two resolves to versions that have
 * passed the smoke test; streams are not affected.
 * @throws ToolUnavailable when a tool is missing and no provider has it
 */
export async function updateNow({
  settings,
  onProgress,
  signal,
  sources,
}: UpdateNowOptions): Promise<UpdateNowOutcome> {
  const egress = createEgress({ ...settings, allow: settings.egressAllow });
  const failures: string[] = [];
  const tools = createTools({
    ...toToolsOptions(settings, { egress }),
    onActivity: onProgress,
    onFailure: (reason) => failures.push(reason),
    // The service records them in the table, when it switches or at its start.
    record: async () => undefined,
    ...(sources && { providers: sources }),
  });
  const close = () => tools.close();
  signal.addEventListener('abort', close);
  try {
    await tools.ensure();
    const before = [tools.ytDlp(), tools.ffmpeg()];
    await tools.update();
    const after = [tools.ytDlp(), tools.ffmpeg()];
    const names = ['yt-dlp', 'FFmpeg'];
    const inPlace = names.map((name, index) => lineOf(name, before[index]?.version, after[index]));
    return { inPlace, failures };
  } finally {
    signal.removeEventListener('abort', close);
    await close();
    await egress.close();
  }
}

function lineOf(name: string, before: string | undefined, after: { version: string; source: string } | undefined) {
  if (!after) return `${name} is not installed`;
  const from = before !== undefined && before !== after.version ? `${before} → ` : '';
  return `${name} ${from}${after.version} (${after.source})`;
}
