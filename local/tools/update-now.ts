import { type Activity, createTools, type ToolsOptions } from '@reelay/yt-dlp-worker';
import type { Settings } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import { toToolsOptions } from './local-tools.ts';

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
