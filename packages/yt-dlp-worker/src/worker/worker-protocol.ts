import type { Sandbox } from '../process/sandbox.ts';
import type { KnownSites } from '../tools.ts';

/** One line to the worker. Implemented by plugins/reelay/…/_reelay_serve.py. */
export interface WorkerRequest {
  readonly id: string;
  readonly url: string;
  /** The worker kills the fork after this time. */
  readonly timeoutSeconds: number;
  /** URL of the egress proxy, with the credentials of this request. */
  readonly proxy: string;
  /** Names the outgoing address: what extractors keep between links counts for those of the same one. @default one for all */
  readonly identity?: string;
  /** List the entries of a playlist without resolving them. */
  readonly flat: boolean;
  /** An unresolved entry of a playlist (`_type` `url` or `url_transparent`): its metadata is merged into the result. */
  readonly entry?: unknown;
  /** Maximum number of entries listed. */
  readonly playlistLimit: number;
  /** Entries left out before those. @default 0 */
  readonly playlistOffset?: number;
  /** The browser that requests imitate, as `--impersonate` of yt-dlp; ignored by a build that cannot. @default none */
  readonly impersonate?: string;
  /** The client of YouTube to ask as, as `youtube:player_client` of `--extractor-args`. @default those that yt-dlp chooses */
  readonly playerClient?: string | undefined;
  /** Cookies of the operator that have been replaced since the worker started. Present when replaced ones are to be reported. */
  readonly cookies?: readonly OperatorCookie[] | undefined;
  /** Prepares this player of YouTube instead, and solves the challenge `n` with it. */
  readonly player?: { readonly code: string; readonly n: string };
  /** Lowers the priority of the fork (0 to 19). @default 0 */
  readonly niceness?: number;
}

/** A cookie of the operator's files. */
export interface OperatorCookie {
  /** As in the file: with a leading dot, subdomains are included. */
  readonly domain: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
  /** Epoch seconds; 0 until the browser is closed. */
  readonly expires: number;
}

/** The first line from the worker. */
export interface WorkerGreeting {
  readonly ready: true;
  /** What confines forks. Null elsewhere than on Linux. */
  readonly sandbox?: Sandbox | null;
  readonly sites?: KnownSites;
}

/** What a request has come to: one line from the worker, behind the id of the request. */
export type WorkerResponse =
  | {
      readonly ok: true;
      readonly info: Record<string, unknown>;
      /** A request took too long, and what it would have returned is missing: another extraction may find more. */
      readonly isIncomplete?: boolean;
      /** Cookies of the operator that the site has replaced, each with its value `before`. Checked by who reads it. */
      readonly cookies?: unknown;
    }
  | LargeResponse
  | { readonly ok: false; readonly error: WorkerFailure };

/** A successful response that is too large to be parsed in this process. */
interface LargeResponse {
  readonly ok: true;
  /** All of it, as JSON. */
  readonly json: Buffer;
}

/** Bytes of a response that is parsed at once. Few items have more. */
export const MAX_PARSED_BYTES = 64 * 1024;

/** Why a resolve failed, derived from exception classes rather than from messages. */
export interface WorkerFailure {
  /** `core/resolve/yt-dlp/failures.ts` translates each kind. */
  readonly kind: WorkerFailureKind;
  /** Status of the upstream response, if there was one. */
  readonly httpStatus?: number;
  /** Retry-After of that response. */
  readonly retryAfterSeconds?: number;
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
  /** There are formats, of a kind that this release of yt-dlp cannot read. */
  | 'unreadable_formats'
  /** There are formats, each of one period of a DASH manifest. */
  | 'separate_periods'
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

export const createFailure = (kind: WorkerFailureKind, message?: string): WorkerResponse => ({
  ok: false,
  error: { kind, ...(message !== undefined && { message }) },
});

/** The process was killed from outside, or has ended before the request. */
export const INTERRUPTED: WorkerResponse = { ok: false, error: { kind: 'crash', isInterrupted: true } };
