/** A parser of untrusted input under test. */
export interface FuzzTarget {
  /** Calls the parser and checks what it returns. */
  readonly run: (input: Buffer) => void;
  /** The errors that its documentation announces; any other is a finding. */
  readonly errors?: readonly (new (
    ...args: never[]
  ) => Error)[];
  readonly seeds: readonly (string | Buffer)[];
  /** What its reader accepts; longer inputs never reach the parser. @default 64 KB */
  readonly maxBytes?: number;
  /** What of it the service parses in its own process. @default 64 KB */
  readonly maxInlineBytes?: number;
  /** Steps that any input may take, and further ones for each byte of it. */
  readonly maxSteps: { readonly fixed: number; readonly perByte: number };
}

/** Without the seeds that are texts: these are in `corpus/texts.json`, by the name of the target. */
export type FuzzTargets = Readonly<Record<string, Omit<FuzzTarget, 'seeds'> & Partial<FuzzTarget>>>;

export const LINEAR = { fixed: 5_000, perByte: 100 };

/** @throws TypeError, which no target announces */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new TypeError(message);
}

/** The input as a header of HTTP: one character for each byte. */
export const header = (input: Buffer): string => input.toString('latin1');

export const MB = 2 ** 20;
