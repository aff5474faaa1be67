/** A file, or a byte range of it. */
export interface MediaSection {
  readonly url: string;
  /** Offsets in bytes, both included; absent: the whole file. */
  readonly range?: { readonly first: number; readonly last: number };
  readonly cipher?: Cipher;
}

/** AES-128 in CBC mode with PKCS7 padding (RFC 8216 §4.3.2.4). */
interface Cipher {
  readonly keyUrl: string;
  /** 16 bytes. */
  readonly iv: Buffer;
}

/** The key of a section, before its URI is resolved. */
interface RelativeCipher {
  readonly keyUri: string;
  readonly iv: () => Buffer;
}

/** A section whose URL is resolved on each use. Sections of one list share its base. */
export class RelativeSection implements MediaSection {
  /** As written. */
  readonly uri: string;
  readonly base: string;
  readonly range: MediaSection['range'];
  readonly #cipher: RelativeCipher | undefined;

  constructor(uri: string, base: string, range?: MediaSection['range'], cipher?: RelativeCipher) {
    this.uri = uri;
    this.base = base;
    this.range = range;
    this.#cipher = cipher;
  }

  /** Empty when the reference is invalid. */
  get url(): string {
    return URL.parse(this.uri, this.base)?.href ?? '';
  }

  get cipher(): Cipher | undefined {
    if (!this.#cipher) return undefined;
    const { keyUri, iv } = this.#cipher;
    return { keyUrl: URL.parse(keyUri, this.base)?.href ?? '', iv: iv() };
  }
}

/** Whether two sections have the same URL. Compares references to one base as written, which takes less time. */
export function isSameUrl(a: MediaSection | undefined, b: MediaSection | undefined): boolean {
  if (a instanceof RelativeSection && b instanceof RelativeSection && a.base === b.base) return a.uri === b.uri;
  return a?.url === b?.url;
}
