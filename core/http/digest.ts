import { createHash } from 'node:crypto';

/** 132 bits in base64url. */
const CHARACTERS = 22;

/** A digest in base64url of bytes or text, or of the JSON of another value, which differs where the values do. */
export const digestOf = (value: unknown, characters = CHARACTERS): string =>
  createHash('sha256')
    .update(typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value))
    .digest('base64url')
    .slice(0, characters);

/** A strong entity tag (RFC 9110 §8.8.3), of what `digestOf` takes. */
export const entityTag = (value: unknown): string => `"${digestOf(value)}"`;
