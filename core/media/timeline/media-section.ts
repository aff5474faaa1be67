/** A file, or a byte range of it. */
export interface MediaSection {
  readonly url: string;
  /** Offsets in bytes, both included; absent: the whole file. */
  readonly range?: { readonly first: number; readonly last: number };
  readonly cipher?: Cipher;
}

/** AES-128 in CBC mode with PKCS7 padding (RFC 8216 §4.3.2.4). */
export interface Cipher {
  readonly keyUrl: string;
  /** 16 bytes. */
  readonly iv: Buffer;
}
