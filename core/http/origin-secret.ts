import { createHash, timingSafeEqual } from 'node:crypto';

/** Header that the edge adds to every forwarded request; lower case. */
export const ORIGIN_SECRET_HEADER = 'x-reelay-origin';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Creates a check of the origin secret that a request carries. */
export function createOriginSecretCheck(secret: string): (received: string | undefined) => boolean {
  const expected = digest(secret);
  // Digests have equal length, which timingSafeEqual requires.
  return (received = '') => timingSafeEqual(digest(received), expected);
}
