/** yt-dlp and FFmpeg, installed and kept up to date. */
export interface Tools {
  /** Undefined until the first install. */
  ytDlp(): YtDlp | undefined;
  ffmpeg(): Ffmpeg | undefined;
  /** Installs what is missing. @throws ToolUnavailable when no provider has a working version */
  ensure(): Promise<void>;
  /** Checks for newer versions and switches to those that pass their smoke test. @returns which tools changed */
  update(): Promise<{ readonly ytDlp: boolean; readonly ffmpeg: boolean }>;
}

/** The releases of yt-dlp to install. */
export type ToolsChannel = 'stable' | 'nightly';

/** One installed version of yt-dlp. */
export interface YtDlp {
  readonly version: string;
  /** The program and the arguments before those of yt-dlp, e.g. `['/usr/bin/python3', '/…/yt_dlp']`. */
  readonly command: readonly [string, ...string[]];
  readonly source: ToolSource;
  /** The only mode in which it passed its smoke test. Absent: the warm worker is tried first. */
  readonly mode?: 'process-per-link';
  /** Read when it passed its smoke test. */
  readonly sites?: KnownSites | undefined;
}

/** The sites that the extractors of a yt-dlp read. */
export interface KnownSites {
  readonly count: number;
  /** Some well-known ones. */
  readonly names: readonly string[];
}

/** How links are given to yt-dlp: one warm process that forks for each, or a process per link. */
export type YtDlpMode = 'worker' | 'process-per-link';

/** One installed build of FFmpeg. */
export interface Ffmpeg {
  readonly version: string;
  readonly path: string;
  readonly source: ToolSource;
  /** Hex. Builds of one version differ: an MP3 that is encoded in parts must come from one build. */
  readonly buildId: string;
}

/** Where a tool comes from, which implies how it was verified. */
export type ToolSource = 'path' | 'release' | 'pypi' | 'system' | 'npm';

/** A source of a tool, with its own rule of trust. */
export interface ToolProvider<Tool> {
  readonly name: ToolSource;
  /** The name in messages to the operator. */
  readonly label: string;
  /** The newest version available. Absent for providers that offer one version only. @throws Error in one line */
  readonly findNewest?: (signal: AbortSignal) => Promise<string>;
  /** The newest release, where this provider passes it over for the given older version. @throws Error in one line */
  readonly findSkipped?: (version: string, signal: AbortSignal) => Promise<SkippedRelease | undefined>;
  /** Its newest version was chosen for all processes: they switch to it even when it is older than the current one. */
  readonly isAuthoritative?: true;
  /**
   * Puts the tool into an empty folder and verifies it as far as this provider can.
   * @returns how to run the tool, given the path that the folder will have later
   * @throws Error in one line
   */
  fetch(folder: string, options: FetchOptions): Promise<(folder: string) => Tool>;
}

/** A provider of a tool that is used where it is. @param find throws an Error in one line */
export const providerInPlace = <Tool>(
  name: ToolSource,
  label: string,
  find: (signal: AbortSignal, folder: string) => Promise<Tool>,
): ToolProvider<Tool> => ({
  name,
  label,
  async fetch(folder, { signal }) {
    const tool = await find(signal, folder);
    return () => tool;
  },
});

/** A release that a provider has but cannot install on this machine. */
export interface SkippedRelease {
  readonly version: string;
  /** One line for the operator. */
  readonly reason: string;
}

export interface FetchOptions {
  /** Bytes received so far, and in total where that is known. */
  readonly onBytes: (bytes: number, totalBytes?: number) => void;
  /** Called when all is received and is being installed. */
  readonly onInstall?: () => void;
  readonly signal: AbortSignal;
}

/** A step of an install or update. */
export interface Activity {
  /** As the API reports it in `maintenance`, e.g. `Downloading yt-dlp`. */
  readonly name: string;
  /** The tool that is fetched, installed or checked; absent while another process installs them. */
  readonly tool?: string;
  readonly step?: 'fetch' | 'install' | 'check';
  /** Received so far. */
  readonly bytes?: number;
  readonly totalBytes?: number;
}

/** The installed tools, for the parts of the instance that do not run them. */
export interface ToolsInPlace {
  /** Versions. */
  readonly ytDlp: string;
  readonly ffmpeg: string;
  /** How each was verified: `signature`, `checksum`, `registry`, `system` or `path`. */
  readonly verifiedBy: Readonly<{ ytDlp: string; ffmpeg: string }>;
  /** Epoch seconds. */
  readonly installedAt: number;
  /** Of this yt-dlp; absent where it is not known. */
  readonly sites?: KnownSites | undefined;
}

/** A provider has the tool, but it is not what it should be: its signature or checksum is wrong, or it does not work. */
export class ToolRefused extends Error {
  override readonly name = 'ToolRefused';
}

/** No provider has a working version of a tool. The message is one line for the operator. */
export class ToolUnavailable extends Error {
  override readonly name = 'ToolUnavailable';
}

/** What is reported while programs are installed and started. Fields may hold errors, whose messages may have URLs. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const noop = () => undefined;

/** Discards all messages. */
export const silentLog: Log = { info: noop, warn: noop, error: noop };

/** Dotted numbers, as in versions of yt-dlp and FFmpeg: `2026.08.19`, `2026.11.20.233456`, `7.0.2-static`. */
const NUMBERS = /^\D{0,2}(\d+(?:\.\d+)*)/;

const numbersOf = (version: string): number[] => (NUMBERS.exec(version)?.[1] ?? '').split('.').map(Number);

/** Negative when `a` is older than `b`. Leading zeros are ignored: PyPI writes `2026.8.19` for `2026.08.19`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether this is a release tag of yt-dlp, a date: safe as a folder name and in a URL. */
export const isReleaseTag = (tag: string): boolean => /^\d{4}\.\d{1,2}\.\d{1,2}(\.\d{1,8})?$/.test(tag);

/** A safe folder name for a version, which a program reports about itself and may contain anything. */
export const folderNameOf = (version: string): string =>
  version
    .replaceAll(/[^\w.+-]/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 60) || 'unknown';
