import type { AppInfo } from '../../core/api/index.ts';
import type { State, ToolsRecord } from '../../core/state/index.ts';
import { createHandler, type Handler, type HandlerOptions } from '../middleware/index.ts';

export interface GetAppInfoOptions extends HandlerOptions {
  readonly state: Pick<State, 'getTools' | 'getMaintenance'>;
  /** As in package.json. */
  readonly version: string;
  readonly environment: string;
}

/** The activity of an instance that never had tools, before whoever fetches them names it. */
export const FIRST_FETCH = 'Fetching tools';

/**
 * GET /api/App: healthy when the table answers and says that verified tools are in place. It needs no tools itself, and
 * answers even when the table does not.
 */
export const createGetAppInfo = ({ state, version, environment, ...options }: GetAppInfoOptions): Handler =>
  createHandler(options, async () => {
    const known = await Promise.all([state.getTools(), state.getMaintenance()]).catch((error) => {
      options.log.error('The state table does not answer', { error: String(error) });
      return undefined;
    });
    const [tools, lease] = known ?? [];
    const json: AppInfo = {
      version: `v${version}`,
      isHealthy: tools !== undefined,
      environment,
      // What GetResource refuses for is told here, whoever fetches the tools has said a word or not.
      maintenance: lease?.activity ?? (known && !tools ? FIRST_FETCH : null),
    };
    return { json, ...(tools && { headers: { 'x-tools': describeTools(tools) } }) };
  });

/** What AppInfo has no field for, as a dictionary of structured fields (RFC 9651): versions, and since when. */
const describeTools = ({ ytDlp, ffmpeg, installedAt }: ToolsRecord): string =>
  `yt-dlp="${printable(ytDlp)}", ffmpeg="${printable(ffmpeg)}", installed=@${installedAt}`;

/** A build may call itself anything. */
const printable = (version: string): string => version.replaceAll(/[^ !#-[\]-~]/g, '');
