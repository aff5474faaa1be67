import { createHash, timingSafeEqual } from 'node:crypto';

/** Header that the edge adds to every forwarded request; lower case. */
export const ORIGIN_SECRET_HEADER = 'x-reelay-origin';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Creates a check of the origin secret that a request carries.
 * @param secrets a comma list: while a rotation is deployed, edge locations send the current or the previous one
 */
export function createOriginSecretCheck(secrets: string): (received: string | undefined) => boolean {
  const expected = secrets
    .split(',')
    .filter((secret) => secret !== '')
    .map(digest);
  return (received = '') => {
    // Digests have equal length, which timingSafeEqual requires.
    const actual = digest(received);
    return expected.filter((each) => timingSafeEqual(actual, each)).length > 0;
  };
}
