import { createHash, timingSafeEqual } from 'node:crypto';

/** What the edge adds to each request that it passes on, lower case. */
export const ORIGIN_SECRET_HEADER = 'x-reelay-origin';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Whether what a request bears is the secret that only the edge knows. */
export function createOriginSecretCheck(secret: string): (borne: string | undefined) => boolean {
  const expected = digest(secret);
  // Digests: of equal length whatever was sent, and compared in constant time.
  return (borne = '') => timingSafeEqual(digest(borne), expected);
}
