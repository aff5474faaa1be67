import { type Box, parseBoxes, UnsupportedMp4 } from './boxes.ts';

/** Boxes that are read of one movie or fragment. Files with hundreds of tracks have some thousands. */
const MAX_BOXES = 16_384;

/**
 * A box whose children are parsed when they are first needed, and kept. All boxes of one index share a budget: a file may
 * have millions of them.
 */
export class IndexedBox implements Box {
  readonly type: string;
  readonly start: number;
  readonly content: number;
  readonly end: number;
  /** What the offsets count in. */
  readonly bytes: Buffer;
  readonly #budget: { boxes: number };
  /** By the bytes of fields before them. */
  readonly #children = new Map<number, readonly IndexedBox[]>();

  constructor(bytes: Buffer, { type, start, content, end }: Box, budget = { boxes: MAX_BOXES }) {
    this.bytes = bytes;
    this.type = type;
    this.start = start;
    this.content = content;
    this.end = end;
    this.#budget = budget;
  }

  /** The boxes that begin in it; see `parseBoxes`. @throws UnsupportedMp4 when there are too many */
  get children(): readonly IndexedBox[] {
    return this.childrenAfter(0);
  }

  /** The boxes after some bytes of fields. @throws UnsupportedMp4 when there are too many */
  childrenAfter(fieldBytes: number): readonly IndexedBox[] {
    const known = this.#children.get(fieldBytes);
    if (known) return known;
    const children: IndexedBox[] = [];
    for (const child of parseBoxes(this.bytes, this.content + fieldBytes, this.end)) {
      this.#budget.boxes -= 1;
      if (this.#budget.boxes < 0) throw new UnsupportedMp4('Too many boxes');
      children.push(new IndexedBox(this.bytes, child, this.#budget));
    }
    this.#children.set(fieldBytes, children);
    return children;
  }

  /** The first child of a type that lies inside this box, and the bytes, as a whole. */
  find(type: string): IndexedBox | undefined {
    const limit = Math.min(this.end, this.bytes.length);
    return this.children.find((child) => child.type === type && child.end <= limit);
  }

  /**
   * A mandatory child.
   * @param minBytes of its content
   * @throws UnsupportedMp4 when it is absent or shorter
   */
  require(type: string, minBytes = 0): IndexedBox {
    const child = this.find(type);
    if (!child || child.end - child.content < minBytes) throw new UnsupportedMp4(`Missing or truncated ${type}`);
    return child;
  }

  /** The box itself, as a slice. */
  get whole(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }
}

/** The index of a movie, by the content of its `moov`. */
export const indexMovie = (moov: Buffer): IndexedBox => indexContent(moov, 'moov');

/** The index of a box whose content is given without its header. */
export const indexContent = (bytes: Buffer, type: string): IndexedBox =>
  new IndexedBox(bytes, { type, start: 0, content: 0, end: bytes.length });

/** The index of the box that bytes begin with. */
export function indexBox(bytes: Buffer): IndexedBox | undefined {
  const [first] = parseBoxes(bytes);
  return first && new IndexedBox(bytes, first);
}
