import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request at the origin. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The full request URL. */
  readonly url: URL;
  /** The decoded path after the prefix of the handler. */
  readonly path: string;
  /** The folder with the test media. */
  readonly mediaDir: string;
  /** Aborted when the client disconnects or the origin closes. */
  readonly signal: AbortSignal;
}

/** Handlers may be asynchronous. */
export type Answer = void | Promise<void>;

/** Handles the requests below one prefix. A thrown error becomes a 500. */
export type OriginHandler = (exchange: Exchange) => Answer;
