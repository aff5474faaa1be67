import type { Source } from './source/source.ts';

/** A source as FFmpeg meets it: a URL on this machine, good while the stream it is for runs. */
export interface LoopbackInput {
  readonly url: string;
  /** Input options that belong before `-i url`. */
  readonly args: readonly string[];
  /** Set once reading the source has failed: FFmpeg itself may not notice that its input was cut. */
  readonly failure: () => Error | undefined;
  close(): void;
}

/** The one HTTP server, on 127.0.0.1 alone, from which every FFmpeg reads. */
export interface Loopback {
  /** `fromSeconds` is for segmented sources. */
  serve(source: Source, options?: { readonly fromSeconds?: number }): LoopbackInput;
  close(): Promise<void>;
}
