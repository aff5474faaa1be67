import type { ByteReader } from './byte-reader.ts';

type Advance = () => Promise<void>;

/**
 * Bytes that are added in order, as far as one of its readers needs them, by the means of that reader: nothing is read or computed ahead of
 * what clients take, and another reader goes on where one has left.
 */
export class FillingBuffer {
  readonly bytes: number;
  readonly #content: Buffer;
  #filled = 0;
  #busy: Promise<void> | undefined;

  constructor(bytes: number) {
    this.bytes = bytes;
    this.#content = Buffer.allocUnsafeSlow(bytes);
  }

  /** Bytes so far. */
  get filled(): number {
    return this.#filled;
  }

  get missingBytes(): number {
    return this.bytes - this.#filled;
  }

  /** All bytes, which must not be changed. Undefined: some are missing. */
  get complete(): Buffer | undefined {
    return this.missingBytes === 0 ? this.#content : undefined;
  }

  append(bytes: Buffer): void {
    this.#filled += bytes.copy(this.#content, this.#filled);
  }

  /** Appends what a source has at an offset, of at most `maxBytes`. @param onRead receives what was read, and where */
  async appendFrom(
    reader: ByteReader,
    offset: number,
    maxBytes: number,
    onRead?: (first: number, bytes: Buffer) => void,
  ): Promise<void> {
    reader.seek(offset);
    await reader.ready();
    for (let left = maxBytes; left > 0; ) {
      const chunk = reader.take(left);
      if (!chunk) return;
      this.append(chunk);
      onRead?.(offset + maxBytes - left, chunk);
      left -= chunk.length;
    }
  }

  /** The bytes that are there, up to `end` at least, which must not be changed. @throws what `advance` throws */
  async upTo(end: number, advance: Advance): Promise<Buffer> {
    await this.#fill(end, advance);
    return this.#content.subarray(0, this.#filled);
  }

  /** All bytes, which must not be changed. */
  async whole(advance: Advance): Promise<Buffer> {
    await this.#fill(this.bytes, advance);
    return this.#content;
  }

  async #fill(end: number, advance: Advance): Promise<void> {
    while (this.#filled < end) {
      // The failure of another reader is not that of this one.
      if (this.#busy) await this.#busy.catch(() => undefined);
      else {
        this.#busy = advance().finally(() => {
          this.#busy = undefined;
        });
        await this.#busy;
      }
    }
  }
}
