import type { ProblemName } from './api-types.ts';

/** Failures that are no response of an instance. */
export type LocalFailure =
  /** The instance did not respond, or the connection broke before its response. */
  | 'unreachable'
  /** What responded is no instance of Reelay, or a proxy in front of it failed. */
  | 'unexpected-response'
  /** The connection broke in the middle of a stream, and further attempts have failed or cannot continue it. */
  | 'interrupted'
  /** The file is there already. */
  | 'file-exists'
  /** Another process keeps the folder in step with a list. */
  | 'folder-in-use'
  /** An entry of a list that comes with the page of the list. */
  | 'no-link'
  /** An entry of a list that is live. */
  | 'live'
  /** The file cannot be written: no space, no permission, no such folder. */
  | 'not-writable';

/** The name in the `type` of problem details; newer instances may have further ones. */
export type FailureCode = ProblemName | LocalFailure | (string & {});

export interface FailureFacts {
  /** Status of the response; absent: there was none. */
  readonly status?: number;
  /** From the problem details, in English; `title` of a 503 is the activity of the instance. */
  readonly title?: string;
  readonly detail?: string;
  /** Whole seconds of `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/** Every failure of a request to an instance, and of a download. An aborted one throws the reason of its signal instead. */
export class ReelayError extends Error implements FailureFacts {
  override readonly name = 'ReelayError';
  /** What happened: `/problems/CODE` of an instance describes it, unless it is a `LocalFailure`. */
  readonly code: FailureCode;
  readonly status?: number;
  readonly title?: string;
  readonly detail?: string;
  readonly retryAfterSeconds?: number;

  constructor(
    code: FailureCode,
    { message, ...facts }: FailureFacts & { readonly message?: string } = {},
    options?: ErrorOptions,
  ) {
    super(message ?? facts.detail ?? facts.title ?? code, options);
    this.code = code;
    Object.assign(this, facts);
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    const isOfInstance = this.status !== undefined && [429, 500, 502, 503, 504].includes(this.status);
    return isOfInstance || this.code === 'unreachable' || this.code === 'interrupted';
  }
}

/** Upper limit of `Retry-After`, which may be any number: a premiere may be announced weeks before. */
const MAX_RETRY_AFTER_SECONDS = 30 * 86_400;
/** Limit for the body of an error response, which any server may have sent. */
const MAX_PROBLEM_BYTES = 65_536;

/** The failure that a response with an error status describes (RFC 9457). Reads its body. */
export async function failureOf(response: Response): Promise<ReelayError> {
  const { status, headers } = response;
  const retryAfterSeconds = parseRetryAfter(headers.get('retry-after'));
  const facts = { status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  const { type, title, detail } = await readProblem(response);
  const [, code] = /^\/problems\/([a-z-]+)$/.exec(String(type)) ?? [];
  return new ReelayError(code ?? 'unexpected-response', {
    ...facts,
    ...(typeof title === 'string' && { title }),
    ...(typeof detail === 'string' && { detail }),
    ...(!code && { message: `The response has status ${status}` }),
  });
}

async function readProblem(response: Response): Promise<{ type?: unknown; title?: unknown; detail?: unknown }> {
  try {
    return Object(JSON.parse(await readText(response, MAX_PROBLEM_BYTES)));
  } catch {
    // No JSON, too much, or cut off: the status is what there is.
    return {};
  }
}

/** The text of a body. @throws RangeError when it is longer, or what reading throws */
export async function readText({ body }: Response, maxBytes: number): Promise<string> {
  if (!body) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let left = maxBytes; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    left -= value.length;
    if (left < 0) {
      await reader.cancel();
      throw new RangeError('The body is too long');
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Seconds of a Retry-After (RFC 9110 §10.2.3), a number or a date. */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_AFTER_SECONDS) : undefined;
}
