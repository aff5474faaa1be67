import type { ContentPart } from './subsegment-content.ts';

/** Bytes that can be read from any offset: of a file, of a `Blob`, of a server that answers ranges. */
export interface ByteSource {
  /** Bytes, exact. */
  readonly size: number;
  /**
   * Reads from `first` to `last`, both included; without `last` to the end. The stream has exactly these bytes, or fails: a stream of
   * Node, or of the Web. Its reader owns the chunks.
   */
  read(first: number, last?: number): ByteStream;
  /** Called when no more is read. @default nothing to release */
  close?(): void;
}

export type ByteStream = NodeStream | ReadableStream<Uint8Array>;

/** What is used of a stream of Node: this package runs without its modules. */
interface NodeStream {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** Reading and discarding up to this many bytes costs less than another request. */
const MAX_SKIPPED_BYTES = 256 * 1024;
/** Beyond this, the stream is paused: pausing it for every chunk costs as much as reading it. */
const MAX_BUFFERED_BYTES = 128 * 1024;

/**
 * Reads a source at a position that advances with the bytes taken. Holds a few chunks of the source's stream, which is
 * paused until they are taken.
 */
export class ByteReader<Source extends ByteSource = ByteSource> {
  readonly file: Source;
  /** Bytes of the source. */
  readonly size: number;
  /** Offset where a read that starts at `position` ends. Bytes beyond it are read when they are taken. */
  readEnd: (position: number) => number;
  /** Offset where the current stream ends. */
  #streamEnd = 0;
  /** Bytes that `read` waits for. */
  #missingBytes = 0;
  #position = 0;
  #flow: Flow | undefined;
  /** Bytes from the position on, in order. */
  readonly #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  /** Bytes of the stream to discard. */
  #skipBytes = 0;
  #failure: Error | undefined;
  #resolveChange: () => void = () => undefined;

  /** @param readEnd as the property. @default the end of the source */
  constructor(file: Source, readEnd: ByteReader['readEnd'] = () => file.size) {
    this.file = file;
    this.size = file.size;
    this.readEnd = readEnd;
  }

  /** Whether a position is reached by discarding bytes. */
  isNear(position: number): boolean {
    const distance = position - this.#position;
    return distance >= 0 && distance + this.#skipBytes <= MAX_SKIPPED_BYTES;
  }

  /** Moves to another position: by discarding bytes when it is near, else by a new read of the source. */
  seek(position: number): void {
    const distance = position - this.#position;
    const isNear = this.isNear(position);
    this.#position = position;
    if (distance === 0 || !(this.#flow || this.#bufferedBytes > 0)) return;
    if (!isNear) this.#closeStream();
    else {
      this.#skipBytes += distance;
      this.#skip();
    }
  }

  /**
   * Up to `maxBytes` of the current chunk, not copied; undefined while there is none: `ready` waits for it.
   * @throws Error the source's failure, or that it ended early
   */
  take(maxBytes: number): Buffer | undefined {
    const [chunk] = this.#chunks;
    if (!chunk) {
      if (this.#failure) throw this.#failure;
      this.#startFlow();
      return undefined;
    }
    const taken = chunk.length > maxBytes ? chunk.subarray(0, maxBytes) : chunk;
    this.#discard(taken.length);
    this.#position += taken.length;
    return taken;
  }

  /**
   * Exactly this many bytes; copied when they arrive in several chunks: each as it arrives, because copying 32 MB at once
   * takes a long turn of the event loop.
   */
  async read(bytes: number): Promise<Buffer> {
    let whole: Buffer | undefined;
    this.#missingBytes = bytes;
    while (this.#missingBytes > 0) {
      const chunk = this.take(this.#missingBytes);
      if (!chunk) await this.#changed();
      else if (chunk.length === bytes) whole = chunk;
      else {
        whole ??= Buffer.allocUnsafeSlow(bytes);
        chunk.copy(whole, bytes - this.#missingBytes);
      }
      this.#missingBytes -= chunk?.length ?? 0;
    }
    return whole ?? Buffer.alloc(0);
  }

  /** Puts bytes back that end at the position. Others have no effect. @param start their offset */
  unread(bytes: Buffer, start: number): void {
    if (start + bytes.length !== this.#position) return;
    this.#position = start;
    this.#chunks.unshift(bytes);
    this.#bufferedBytes += bytes.length;
  }

  /** Settles when `take` has bytes. */
  async ready(): Promise<void> {
    while (this.#bufferedBytes === 0) {
      if (this.#failure) throw this.#failure;
      this.#startFlow();
      await this.#changed();
    }
  }

  /** Ends reading, and closes the source. Pending and later reads fail. */
  destroy(): void {
    this.#failure ??= new Error('Reader destroyed');
    this.#closeStream();
    this.file.close?.();
    this.#resolveChange();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolveChange = resolve;
    });
  }

  #startFlow(): void {
    if (this.#flow) {
      this.#flow.resume();
      return;
    }
    if (this.#position >= this.size) {
      this.#failure = new Error('The file ends before what its header describes');
      throw this.#failure;
    }
    const streamEnd = Math.min(
      this.size,
      Math.max(this.readEnd(this.#position), this.#position + Math.max(1, this.#missingBytes)),
    );
    this.#streamEnd = streamEnd;
    this.#skipBytes = 0;
    const stream = this.file.read(this.#position, streamEnd === this.size ? undefined : streamEnd - 1);
    const flow: Flow = startFlow(stream, {
      onData: (chunk) => {
        if (this.#flow !== flow) return;
        this.#chunks.push(chunk);
        this.#bufferedBytes += chunk.length;
        this.#skip();
        if (this.#bufferedBytes > 0) this.#resolveChange();
        if (this.#bufferedBytes >= MAX_BUFFERED_BYTES) flow.pause();
      },
      onEnd: (error) => {
        if (this.#flow !== flow) return;
        // A complete stream is no failure: the chunks that are left can be taken, and another position can be read.
        this.#flow = undefined;
        const end = this.#position - this.#skipBytes + this.#bufferedBytes;
        if (error || end < this.#streamEnd) this.#failure = error ?? new Error('The source ended early');
        this.#resolveChange();
      },
    });
    this.#flow = flow;
  }

  /** Discards buffered bytes before the position. */
  #skip(): void {
    const skipped = Math.min(this.#skipBytes, this.#bufferedBytes);
    this.#skipBytes -= skipped;
    this.#discard(skipped);
  }

  #discard(bytes: number): void {
    this.#bufferedBytes -= bytes;
    for (let left = bytes; left > 0; ) {
      const chunk = this.#chunks.shift();
      if (!chunk) return;
      if (chunk.length > left) this.#chunks.unshift(chunk.subarray(left));
      left -= chunk.length;
    }
  }

  #closeStream(): void {
    const flow = this.#flow;
    this.#flow = undefined;
    this.#chunks.length = 0;
    this.#bufferedBytes = 0;
    this.#skipBytes = 0;
    flow?.cancel();
  }
}

/** Shorter chunks are copied: a hostile file has many samples of one byte each. */
const MIN_OWN_BYTES = 1024;
const NO_BYTES = Buffer.alloc(0);

/** Some bytes of a source as they arrive. @param onRead receives what was read, and where */
export async function* passOn(
  reader: ByteReader,
  first: number,
  bytes: number,
  onRead?: (first: number, chunk: Buffer) => void,
): AsyncGenerator<ContentPart> {
  reader.seek(first);
  for (let left = bytes; left > 0; ) {
    const chunk = reader.take(left);
    if (chunk) {
      onRead?.(first + bytes - left, chunk);
      left -= chunk.length;
      yield chunk.length < MIN_OWN_BYTES ? chunk : { own: chunk };
    } else {
      yield NO_BYTES;
      await reader.ready();
    }
  }
}

/** A stream whose chunks arrive by themselves, until it is paused. */
interface Flow {
  pause(): void;
  resume(): void;
  cancel(): void;
}

/** Called after this turn, in order; `onEnd` once, with the error of a stream that fails. */
interface FlowListener {
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: (error?: Error) => void;
}

const startFlow = (stream: ByteStream, listener: FlowListener): Flow =>
  'getReader' in stream ? flowOfWeb(stream, listener) : flowOfNode(stream, listener);

function flowOfNode(stream: NodeStream, { onData, onEnd }: FlowListener): Flow {
  let isPaused = false;
  stream.on('data', onData);
  stream.on('end', () => onEnd());
  stream.on('error', onEnd);
  stream.on('close', () => onEnd(new Error('The source ended early')));
  return {
    pause() {
      isPaused = true;
      stream.pause();
    },
    resume() {
      if (isPaused) stream.resume();
      isPaused = false;
    },
    cancel: () => void stream.destroy(),
  };
}

function flowOfWeb(stream: ReadableStream<Uint8Array>, { onData, onEnd }: FlowListener): Flow {
  const reader = stream.getReader();
  let resumed = Promise.resolve();
  let resume: () => void = () => undefined;
  const pump = async () => {
    for (;;) {
      await resumed;
      const { value, done } = await reader.read();
      if (done) return onEnd();
      onData(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    }
  };
  pump().catch(onEnd);
  return {
    pause() {
      resumed = new Promise((resolve) => {
        resume = resolve;
      });
    },
    resume: () => resume(),
    cancel: () => void reader.cancel().catch(() => undefined),
  };
}
