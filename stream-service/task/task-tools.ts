import { setTimeout as pause } from 'node:timers/promises';
import { getRetryDelay } from '@reelay/concurrency';
import { createTools, smokeTestYtDlp, type ToolProvider, type Tools, type YtDlp } from '@reelay/yt-dlp-worker';
import type { Settings } from '../../core/config/index.ts';
import { type Egress, openLoopbackProxy } from '../../core/egress/index.ts';
import { InMaintenance } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';

export interface TaskToolsOptions {
  readonly settings: Pick<Settings, 'toolsDir' | 'toolsChannel' | 'toolsUpdateHours' | 'ytDlpPath' | 'ffmpegPath'>;
  readonly egress: Pick<Egress, 'request'>;
  /** The only provider of yt-dlp. Absent: the providers of one machine. */
  readonly pointer?: ToolProvider<YtDlp> | undefined;
  /** Between two update checks, ± 20 %. @default 5 minutes with a pointer, else `toolsUpdateHours` */
  readonly updateIntervalMs?: number;
  /** Until the first retry while a tool is missing; doubled with each, up to a minute. @default 2000 */
  readonly retryDelayMs?: number;
  readonly log: Log;
}

/** The tools of a task: installed at the start, updated when the pointer changes. Failures never end the task. */
export interface TaskTools extends Pick<Tools, 'ytDlp' | 'ffmpeg'> {
  /** What is being installed or updated, if anything. */
  activity(): string | undefined;
  /** @throws InMaintenance while yt-dlp is missing */
  inPlace(): Promise<void>;
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
/** Spreads the update checks of tasks that started together. */
const JITTER = 0.2;

export function startTaskTools(options: TaskToolsOptions): TaskTools {
  const { settings, egress, pointer, retryDelayMs = 2_000, log } = options;
  const updateIntervalMs =
    options.updateIntervalMs ?? (pointer ? 5 * MINUTE_MS : settings.toolsUpdateHours * 60 * MINUTE_MS);
  const closing = new AbortController();
  const { signal } = closing;
  let activity: string | undefined;

  const tools = createTools({
    dir: settings.toolsDir,
    channel: settings.toolsChannel,
    ytDlpPath: settings.ytDlpPath,
    ffmpegPath: settings.ffmpegPath,
    download: egress.request,
    onActivity({ name }) {
      activity = name;
    },
    smokeTest: (candidate) => smokeTestYtDlp(candidate, { openProxy: openLoopbackProxy, signal }),
    // The tools update writes the instance's record when it changes the pointer.
    record: async () => undefined,
    log,
    ...(pointer && { providers: { ytDlp: [pointer] } }),
  });
  const isMissing = () => !tools.ytDlp() || !tools.ffmpeg();

  /** Checks that found a tool missing. */
  let failures = 0;
  /** Milliseconds until the next check; undefined: there is none. */
  const nextDelayMs = (): number | undefined => {
    if (!isMissing()) return updateIntervalMs > 0 ? withJitter(updateIntervalMs) : undefined;
    failures += 1;
    return withJitter(getRetryDelay(failures, { initialDelayMs: retryDelayMs, maxDelayMs: MINUTE_MS }));
  };
  const keepUpdated = async () => {
    for (;;) {
      try {
        await (isMissing() ? tools.ensure() : tools.update());
      } catch (error) {
        if (signal.aborted) return;
        log.error('Installing or updating tools failed', { error });
      } finally {
        activity = undefined;
      }
      const delayMs = nextDelayMs();
      if (delayMs === undefined) return;
      await pause(delayMs, undefined, { ref: false, signal });
    }
  };
  const updates = keepUpdated().catch((error) => {
    if (!signal.aborted) log.error('Tool updates stopped', { error });
  });

  return {
    ytDlp: tools.ytDlp,
    ffmpeg: tools.ffmpeg,
    activity: () => activity,
    async inPlace() {
      if (!tools.ytDlp()) throw new InMaintenance(activity ?? 'Downloading yt-dlp');
    },
    async close() {
      closing.abort();
      await tools.close();
      await updates;
    },
  };
}

const withJitter = (milliseconds: number): number => milliseconds * (1 - JITTER + 2 * JITTER * Math.random());
