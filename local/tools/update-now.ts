import type { Settings } from '../../core/config/index.ts';
import { createEgress, openLoopbackProxy } from '../../core/egress/index.ts';
import { type Activity, createTools, smokeTestYtDlp, type ToolsOptions } from '../../layers/tools/index.ts';

export interface UpdateNowOptions {
  readonly settings: Settings;
  readonly onProgress: (activity: Activity) => void;
  readonly signal: AbortSignal;
  readonly sources?: ToolsOptions['providers'];
}

/** What an update on demand came to, in lines for the operator. */
export interface UpdateNowOutcome {
  /** What is in place, one line a tool. */
  readonly inPlace: readonly string[];
  /** What could not be updated, and why: what was in place stays. */
  readonly failures: readonly string[];
}

/**
 * Looks for newer tools in the folder that a service may be using at the same time: the service takes up what passes its
 * smoke test, between two resolves, and streams go on.
 * @throws ToolUnavailable when a tool is missing and no source has it
 */
export async function updateNow({
  settings,
  onProgress,
  signal,
  sources,
}: UpdateNowOptions): Promise<UpdateNowOutcome> {
  const egress = createEgress({ allow: settings.egressAllow, outgoingProxies: settings.outgoingProxies });
  const failures: string[] = [];
  const tools = createTools({
    dir: settings.toolsDir,
    channel: settings.toolsChannel,
    ytDlpPath: settings.ytDlpPath,
    ffmpegPath: settings.ffmpegPath,
    download: (url, options) => egress.request(url, { ...options, identity: egress.nextIdentity() }),
    onActivity: onProgress,
    smokeTest: (candidate, closing) => smokeTestYtDlp(candidate, { openProxy: openLoopbackProxy, signal: closing }),
    onFailure: (reason) => failures.push(reason),
    // The service says it in the table: when it takes them up, or at its start.
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
  if (!after) return `${name} is not in place`;
  const from = before !== undefined && before !== after.version ? `${before} → ` : '';
  return `${name} ${from}${after.version} (${after.source})`;
}
