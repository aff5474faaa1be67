export type Shell = 'posix' | 'powershell';

export interface CommandOptions {
  /** The stream's. */
  readonly url: string;
  readonly fileName: string;
  /** Goes on where an earlier run was interrupted. */
  readonly canResume: boolean;
  /** @default posix */
  readonly shell?: Shell;
}

/** A curl that takes the file: safe to paste whatever the name is. */
export function curlCommand(_options: CommandOptions): string {
  return '';
}

/** The same by yt-dlp. */
export function ytDlpCommand(_options: CommandOptions): string {
  return '';
}

/** The shell that a visitor most likely has. */
export const likelyShell = (userAgent: string): Shell => (/Windows/.test(userAgent) ? 'powershell' : 'posix');
