/** One line to the worker. Implemented by plugins/reelay/…/_reelay_serve.py. */
export interface WorkerRequest {
  readonly id: string;
  readonly url: string;
  /** The worker kills the fork after this time. */
  readonly timeoutSeconds: number;
  /** URL of the egress proxy, with the credentials of this request. */
  readonly proxy: string;
  /** List the entries of a playlist without resolving them. */
  readonly flat: boolean;
  /** An unresolved entry of a playlist (`_type` `url` or `url_transparent`): its metadata is merged into the result. */
  readonly entry?: unknown;
  /** Maximum number of entries listed. */
  readonly playlistLimit: number;
  /** The browser that requests imitate, as `--impersonate` of yt-dlp; ignored by a build that cannot. @default none */
  readonly impersonate?: string;
  /** Lowers the priority of the fork (0 to 19). @default 0 */
  readonly niceness?: number;
}

/** One line from the worker. */
export type WorkerResponse =
  | {
      readonly id: string;
      readonly ok: true;
      readonly info: Record<string, unknown>;
      /** From the request's arrival to the start of its extraction: queue and fork. */
      readonly waitedMs?: number;
      readonly extractedMs?: number;
    }
  | { readonly id: string; readonly ok: false; readonly error: WorkerFailure };

/** Why a resolve failed, derived from exception classes rather than from messages. */
export interface WorkerFailure {
  /** `core/resolve/yt-dlp/failures.ts` translates each kind. */
  readonly kind: WorkerFailureKind;
  /** Status of the upstream response, if there was one. */
  readonly httpStatus?: number;
  /** `expected` of the ExtractorError: not a bug of the extractor. */
  readonly expected?: boolean;
  readonly message?: string;
  readonly extractor?: string;
  /** The process was killed from outside, not by its limits: the request may be sent again. */
  readonly isInterrupted?: boolean;
  /** Classes of the exception chain, outermost first, for the log. */
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
