import { setTimeout as pause } from 'node:timers/promises';
import type { Settings } from '../../core/config/index.ts';
import { type Egress, openLoopbackProxy } from '../../core/egress/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createTools, smokeTestYtDlp, type ToolProvider, type Tools, type YtDlp } from '../../layers/tools/index.ts';

export interface TaskToolsOptions {
  readonly settings: Pick<Settings, 'toolsDir' | 'toolsChannel' | 'toolsUpdateHours' | 'ytDlpPath' | 'ffmpegPath'>;
  readonly egress: Pick<Egress, 'request'>;
  /** The one place yt-dlp comes from. Absent: wherever a machine of its own would get it. */
  readonly pointer?: ToolProvider<YtDlp> | undefined;
  /** Milliseconds between two looks at the pointer, give or take a fifth. @default 5 minutes */
  readonly lookEvery?: number;
  /** Milliseconds until the first new attempt while a tool is missing, doubled up to a minute. @default 2 s */
  readonly retryAfter?: number;
  readonly log: Log;
}

/** The tools of a task: put in place at the start, changed as the pointer moves. Nothing of it ends the task. */
export interface TaskTools extends Pick<Tools, 'ytDlp' | 'ffmpeg'> {
  /** What is being done to them, if anything. */
  activity(): string | undefined;
  close(): Promise<void>;
}

const MINUTE = 60_000;
/** Tasks that started together must not look together. */
const JITTER = 0.2;

export function startTaskTools(options: TaskToolsOptions): TaskTools {
  const { settings, egress, pointer, retryAfter = 2_000, log } = options;
  const lookEvery = options.lookEvery ?? (pointer ? 5 * MINUTE : settings.toolsUpdateHours * 60 * MINUTE);
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
    // The instance's record is written by whoever moves the pointer.
    record: async () => undefined,
    log,
    ...(pointer && { providers: { ytDlp: [pointer] } }),
  });
  const isMissing = () => !tools.ytDlp() || !tools.ffmpeg();

  /** Milliseconds until the next round; undefined: there is none. */
  let retry = retryAfter;
  const afterRound = (): number | undefined => {
    if (!isMissing()) return lookEvery > 0 ? around(lookEvery) : undefined;
    const wait = around(retry);
    retry = Math.min(retry * 2, MINUTE);
    return wait;
  };
  const keepUp = async () => {
    for (;;) {
      try {
        await (isMissing() ? tools.ensure() : tools.update());
      } catch (error) {
        if (signal.aborted) return;
        log.error('The tools are not in place', { error });
      } finally {
        activity = undefined;
      }
      const wait = afterRound();
      if (wait === undefined) return;
      await pause(wait, undefined, { ref: false, signal });
    }
  };
  const kept = keepUp().catch((error) => {
    if (!signal.aborted) log.error('Nobody looks after the tools any more', { error });
  });

  return {
    ytDlp: tools.ytDlp,
    ffmpeg: tools.ffmpeg,
    activity: () => activity,
    async close() {
      closing.abort();
      await tools.close();
      await kept;
    },
  };
}

const around = (milliseconds: number): number => milliseconds * (1 - JITTER + 2 * JITTER * Math.random());
