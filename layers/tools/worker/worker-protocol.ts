/** One line to the resolver worker. `proxy` is the egress lease of this request alone. */
export interface WorkerRequest {
  readonly id: string;
  readonly url: string;
  /** Seconds until the worker kills the fork. */
  readonly timeoutSeconds: number;
  readonly proxy: string;
  /** Lists a playlist's entries without resolving them. */
  readonly flat: boolean;
  /** An unresolved entry of a playlist (`_type` `url` or `url_transparent`), to keep what the list said of it. */
  readonly entry?: unknown;
  /** Entries listed at most. */
  readonly playlistLimit: number;
}

/** One line from the worker. */
export type WorkerResponse =
  | { readonly id: string; readonly ok: true; readonly info: Record<string, unknown> }
  | { readonly id: string; readonly ok: false; readonly error: WorkerFailure };

/** Why a resolve failed, told by exception classes rather than by text. */
export interface WorkerFailure {
  /** `extraction/failures.ts` says what each answers. */
  readonly kind: WorkerFailureKind;
  /** Status of the upstream's answer, where there was one. */
  readonly httpStatus?: number;
  /** Whether yt-dlp itself calls it expected. */
  readonly expected?: boolean;
  readonly message?: string;
  readonly extractor?: string;
  /** For the log: classes of the exception chain, outermost first. */
  readonly classes?: readonly string[];
}

export type WorkerFailureKind =
  | 'drm'
  | 'login'
  | 'geo'
  | 'no_formats'
  | 'upcoming'
  | 'not_live'
  | 'unsupported'
  | 'site_drm'
  | 'site_piracy'
  | 'site_liability'
  | 'bad_scheme'
  | 'http'
  | 'egress_refused'
  | 'proxy'
  | 'dns'
  | 'timeout'
  | 'network'
  | 'expected'
  | 'too_large'
  | 'memory'
  | 'crash'
  | 'cancelled'
  | 'bug';
