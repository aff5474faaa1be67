import { storedKey } from './stored-key.ts';

/** As the service signs the URLs in feeds; see core/http/client.ts. Subscriptions keep a URL. */
const TTL_SECONDS = 366 * 24 * 3600;
const DAY_SECONDS = 24 * 3600;
const ID_CHARACTERS = 12;
const SIGNATURE_CHARACTERS = 22;

/**
 * The `access` parameter that admits clients without a key, such as podcast clients, to Get and Feed of a link for a year:
 * `<id of the access key>.<expiry>.<signature>`. Undefined for an open instance.
 * @param link the `url` parameter
 */
export async function signLink(link: string, now = Date.now()): Promise<string | undefined> {
  const key = storedKey();
  if (!key) return undefined;
  // Not `crypto.subtle`: it is missing on http, which instances of a home network have.
  const { hash, sign } = await import('./hmac.ts');
  const keyHash = hash(key);
  const expiry = Math.ceil((now / 1000 + TTL_SECONDS) / DAY_SECONDS) * DAY_SECONDS;
  const signature = sign(keyHash, `${link}.${expiry}`).slice(0, SIGNATURE_CHARACTERS);
  return `${keyHash.slice(0, ID_CHARACTERS)}.${expiry}.${signature}`;
}
