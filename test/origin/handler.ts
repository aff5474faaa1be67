import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request at the origin. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The whole URL as it was asked for. */
  readonly url: URL;
  /** What follows the prefix that the handler is mounted at, decoded. */
  readonly path: string;
  /** The folder with the test media. */
  readonly mediaDir: string;
  /** Aborted when the client has gone or the origin closes. */
  readonly signal: AbortSignal;
}

/** An answer may take its time. */
export type Answer = void | Promise<void>;

/** Answers the requests below one prefix. What it throws becomes a 500. */
export type OriginHandler = (exchange: Exchange) => Answer;
