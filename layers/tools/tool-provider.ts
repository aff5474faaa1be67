import type { ToolSource } from './tools.ts';

/** A place that has a tool, with its own rule of trust. */
export interface ToolProvider<Tool> {
  readonly name: ToolSource;
  /** For the operator's one line. */
  readonly label: string;
  /** The newest version there is; absent where a source has no newer ones to offer. */
  readonly newest?: (signal: AbortSignal) => Promise<string>;
  /** Somebody has chosen its newest version for everybody: it is the one to have even where it is an older one. */
  readonly decides?: true;
  /**
   * Puts the tool into an empty folder, checked as far as this source can be checked, and gives how to name it from
   * wherever that folder ends up.
   * @throws Error in one line
   */
  fetch(folder: string, options: FetchOptions): Promise<(folder: string) => Tool>;
}

export interface FetchOptions {
  /** Bytes so far, and in all where that is known. */
  readonly onBytes: (bytes: number, totalBytes?: number) => void;
  readonly signal: AbortSignal;
}
