import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { limitedBy } from '../../core/http/index.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The delivery that an encrypted text is part of: it is that of no other one. */
export interface SealedFor {
  readonly id: string;
  readonly client: string;
}

/** Encrypts what the table holds of deliveries: the table is on disk. */
export interface Sealing {
  seal(value: unknown, of: SealedFor): string;
  /** @throws Error for another delivery, or when the access key of its client has been removed */
  open(sealed: string, of: SealedFor): unknown;
}

/** @param secrets hashes of access keys. The client's own encrypts; the first one, where a process does not know it yet */
export function createSealing(secrets: readonly string[]): Sealing {
  const keyOf = (secret: string) => Buffer.from(hkdfSync('sha256', secret, '', 'reelay deliveries', 32));
  const byClient = new Map(secrets.map((secret) => [limitedBy('', secret), keyOf(secret)]));
  const keys = [...byClient.values()];
  const [first] = keys;
  if (!first) throw new RangeError('There is no secret');
  const contextOf = ({ id, client }: SealedFor) => Buffer.from(`${id} ${client}`);
  return {
    seal(value, of) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, byClient.get(of.client) ?? first, iv).setAAD(contextOf(of));
      const text = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64');
    },
    open(sealed, of) {
      const bytes = Buffer.from(sealed, 'base64');
      const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
      let failure: unknown;
      for (const key of keys) {
        try {
          const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
          decipher.setAAD(contextOf(of)).setAuthTag(tag);
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
