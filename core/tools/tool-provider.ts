import type { ToolSource } from './tools.ts';

/** A source of a tool, with its own rule of trust. */
export interface ToolProvider<Tool> {
  readonly name: ToolSource;
  /** For messages to the operator. */
  readonly label: string;
  /** The newest version available. Absent for providers that offer one version only. @throws Error in one line */
  readonly findNewest?: (signal: AbortSignal) => Promise<string>;
  /** Its newest version was chosen for all processes: they switch to it even when it is older than the current one. */
  readonly authoritative?: true;
  /**
   * Puts the tool into an empty folder and verifies it as far as this provider can.
   * @returns how to run the tool, given the path that the folder will have later
   * @throws Error in one line
   */
  fetch(folder: string, options: FetchOptions): Promise<(folder: string) => Tool>;
}

export interface FetchOptions {
  /** Bytes received so far, and in total where that is known. */
  readonly onBytes: (bytes: number, totalBytes?: number) => void;
  readonly signal: AbortSignal;
}
