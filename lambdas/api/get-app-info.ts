import { type AppInfo, getOperation } from '../../core/api/index.ts';
import type { State, ToolsRecord } from '../../core/state/index.ts';
import { createHandler, type Handler, type HandlerOptions } from '../middleware/index.ts';

export interface GetAppInfoOptions extends HandlerOptions {
  readonly state: Pick<State, 'getTools' | 'getMaintenance'>;
  /** As in package.json. */
  readonly version: string;
  readonly environment: string;
}

/** The activity of an instance without tools whose installation has not started yet. */
export const FIRST_INSTALL = 'Fetching tools';

/**
 * GET /api/App: healthy when the table is available and records verified tools. Answers 200 without tools, and without
 * the table.
 */
export const createGetAppInfo = ({ state, version, environment, ...options }: GetAppInfoOptions): Handler =>
  createHandler({ ...options, methods: getOperation('GetAppInfo').methods }, async () => {
    const known = await Promise.all([state.getTools(), state.getMaintenance()]).catch((error) => {
      options.log.error('State table unavailable', { error });
      return undefined;
    });
    const [tools, lease] = known ?? [];
    const json: AppInfo = {
      version: `v${version}`,
      isHealthy: tools !== undefined,
      environment,
      // Whenever GetResource answers that the instance is in maintenance, this names the activity.
      maintenance: lease?.activity ?? (known && !tools ? FIRST_INSTALL : null),
    };
    return { json, ...(tools && { headers: { 'x-tools': describeTools(tools) } }) };
  });

/** Versions of the tools and when they were installed, as a dictionary of structured fields (RFC 9651). */
const describeTools = ({ ytDlp, ffmpeg, installedAt }: ToolsRecord): string =>
  `yt-dlp="${printable(ytDlp)}", ffmpeg="${printable(ffmpeg)}", installed=@${installedAt}`;

/** FFmpeg builds choose their version freely: keeps the characters that a quoted string may contain unescaped. */
const printable = (version: string): string => version.replaceAll(/[^ !#-[\]-~]/g, '');
