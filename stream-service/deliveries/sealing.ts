import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts what the table holds of deliveries: the table is on disk. */
export interface Sealing {
  /** @param context has to be the same when it is opened */
  seal(value: unknown, context: string): string;
  /** @throws Error for another context, or when the secret is no longer one of the instance */
  open(sealed: string, context: string): unknown;
}

/** @param secrets the first one encrypts, any of them decrypts. There must be one */
export function createSealing(secrets: readonly string[]): Sealing {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'reelay deliveries', 32)));
  const [first] = keys;
  if (!first) throw new RangeError('There is no secret');
  return {
    seal(value, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, first, iv).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64');
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64');
      const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
      let failure: unknown;
      for (const key of keys) {
        try {
          const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
          decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
          const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
          return JSON.parse(text.toString('utf8'));
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    },
  };
}
