export { EgressRefused, UpstreamError } from '@reelay/guarded-fetch/errors';

/** The source no longer accepts a URL. `gone`: it answers 404 or 410. */
export class UrlExpired extends Error {
  override readonly name = 'UrlExpired';
  readonly gone: boolean;

  constructor(gone: boolean) {
    super(gone ? 'Upstream URL is gone' : 'Upstream refused the URL');
    this.gone = gone;
  }
}

/** The media exists, but not in the requested form. */
export class UnsupportedRendition extends Error {
  override readonly name = 'UnsupportedRendition';
  /** The reason, as one sentence for the client. */
  readonly detail: string;

  constructor(detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.detail = detail;
  }
}

/** Detail of the refusal of a file that its source compresses: offsets into it mean nothing. */
export const COMPRESSED = 'The source sends the file compressed and without ranges.';

/**
 * Makes an error fit to be kept for long: until the text of its stack is made, V8 keeps the receivers of its frames in memory,
 * and whatever they refer to, such as the headers of a file.
 * @returns the error
 */
export function withoutFrames<E extends Error>(error: E): E {
  for (let at: unknown = error; at instanceof Error; at = at.cause) void at.stack;
  return error;
}
