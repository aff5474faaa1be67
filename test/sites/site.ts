import type { Exchange } from '../origin/handler.ts';

/** A web site on loopback that behaves as one whose links yt-dlp resolves. */
export interface Site {
  /** Its host names; `*.` stands for one label. */
  readonly hosts: readonly string[];
  /** Responds to one request. An error of it is a 500. */
  handle(exchange: SiteExchange): void | Promise<void>;
}

/** A request to a site, and its response. */
export interface SiteExchange extends Exchange {
  readonly host: string;
  /** The address that the request comes from. */
  readonly client: string;
  readonly body: string;
}

/** A request that a site has received. */
export interface SiteRequest {
  readonly client: string;
  readonly method: string;
  readonly url: URL;
  readonly headers: SiteExchange['request']['headers'];
  readonly body: string;
  /** Of the response; 0 before it. */
  status: number;
}
