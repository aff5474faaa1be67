import type { Activity } from '@reelay/yt-dlp-worker';
import type { Schema } from '../../core/api/index.ts';
import type { State, ToolsRecord } from '../../core/state/index.ts';
import { type HandlerOptions, headerOf, type OperationHandler } from '../http-handler.ts';

export interface GetAppInfoOptions extends Pick<HandlerOptions, 'log'> {
  readonly state: Pick<State, 'getTools' | 'getMaintenance'>;
  /** As in package.json. */
  readonly version: string;
  readonly environment: string;
  /**
   * The base URL by which other devices reach the instance, for a page that is open under a name of this machine alone. Undefined
   * where they cannot. @default the page's own address is that of the instance
   */
  readonly reachableUrl?: () => string | undefined;
  /** Links to try, where there are some. */
  readonly samples?: (() => readonly Sample[]) | undefined;
  /** What this process does during maintenance. */
  readonly activity?: () => Activity | undefined;
}

/** A link to try, and what it shows. */
export interface Sample {
  readonly url: string;
  readonly title: string;
}

/** A name of the machine itself: no other client learns addresses of its network. */
const OWN_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** The activity of an instance without tools whose installation has not started yet. */
export const FIRST_INSTALL = 'Fetching tools';

/**
 * GET /api/App: healthy when the table is available and records verified tools. Answers 200 without tools, and without
 * the table.
 */
export const createGetAppInfo =
  ({ state, version, environment, activity, reachableUrl, samples, log }: GetAppInfoOptions): OperationHandler =>
  async (event) => {
    const known = await Promise.all([state.getTools(), state.getMaintenance()]).catch((error) => {
      log.error('State table unavailable', { error });
      return undefined;
    });
    const [tools, lease] = known ?? [];
    const json: Schema<'AppInfo'> = {
      version: `v${version}`,
      isHealthy: tools !== undefined,
      environment,
      // Whenever GetResource answers that the instance is in maintenance, this names the activity.
      maintenance: lease?.activity ?? (known && !tools ? FIRST_INSTALL : null),
    };
    const publicUrl = OWN_HOST.test(headerOf(event, 'host') ?? '') ? reachableUrl?.() : undefined;
    const step = lease && activity?.();
    const link = samples?.().map(({ url, title }) => `<${encodeURI(url)}>; rel="example"; title="${printable(title)}"`);
    const headers = {
      ...(tools && { 'x-tools': describeTools(tools) }),
      ...(step?.tool && { 'x-maintenance': describeStep(step) }),
      ...(publicUrl && { 'x-public-url': publicUrl }),
      ...(link?.length && { link: link.join(', ') }),
    };
    return { json, headers };
  };

/** Versions of the tools, when they were installed, and which sites yt-dlp reads, as a dictionary of structured fields (RFC 9651). */
const describeTools = ({ ytDlp, ffmpeg, installedAt, sites }: ToolsRecord): string =>
  [
    `yt-dlp="${printable(ytDlp)}", ffmpeg="${printable(ffmpeg)}", installed=@${installedAt}`,
    ...(sites ? [`sites=${sites.count}, named=(${sites.names.map((name) => `"${printable(name)}"`).join(' ')})`] : []),
  ].join(', ');

/** How far the maintenance is, in the same form: the step, its tool, and the bytes received so far and in total. */
const describeStep = ({ step, tool, bytes, totalBytes }: Activity): string =>
  [
    `step=${step}`,
    `tool="${tool}"`,
    ...(bytes === undefined ? [] : [`received=${Math.round(bytes)}`]),
    ...(totalBytes === undefined ? [] : [`total=${Math.round(totalBytes)}`]),
  ].join(', ');

/** FFmpeg builds choose their version freely: keeps the characters that a quoted string may contain unescaped. */
const printable = (version: string): string => version.replaceAll(/[^ !#-[\]-~]/g, '');

export interface GetRequestCountOptions {
  readonly state: Pick<State, 'countRequests'>;
}

/** Background of the badge's message, as a hexadecimal RGB color. */
const COLOR = '9f54e5';

/** GET /api/App/requests: the number of resolves served, as a shields.io endpoint badge. */
export const createGetRequestCount =
  ({ state }: GetRequestCountOptions): OperationHandler =>
  async () => {
    const count = await state.countRequests();
    const json: Schema<'RequestCount'> = {
      schemaVersion: 1,
      label: 'requests',
      message: count.toLocaleString('en-US'),
      color: COLOR,
    };
    return { json, headers: { 'x-request-count': String(count) } };
  };
