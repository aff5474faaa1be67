import type { AppInfo, MediaRendition, ResourceInformation } from './contract.ts';

export { ApiFailure, type FailureFacts, type FailureKind } from './failure.ts';

/** An instance of the service. Everything throws `ApiFailure`, or the signal's reason when that aborts. */
export interface Api {
  /** Origin and path without a slash at the end, such as `https://reelay.example`. */
  readonly base: string;
  getAppInfo(signal?: AbortSignal): Promise<AppInfo>;
  /** Resolves served so far. */
  getRequestCount(signal?: AbortSignal): Promise<number>;
  resolve(link: string, signal?: AbortSignal): Promise<ResourceInformation>;
  /** Where a rendition streams from: for a player, a download and a command line alike. */
  streamUrl(rendition: Pick<MediaRendition, 'key' | 'urlType' | 'convertTo'>): string;
}

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** `base` as `base-url.ts` gives it. */
export function createApi(base: string, _options: { readonly fetch?: Fetch } = {}): Api {
  throw new Error(base);
}
