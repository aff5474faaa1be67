/** One subtitle: plain text without markup. */
export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  /** Lines separated by `\n`; never blank. */
  readonly text: string;
}

/** Bytes of a subtitle file. Hours of speech are below 1 MB. */
export const MAX_SUBTITLE_BYTES = 5_000_000;
/** Further cues are dropped: a film has about 2,000. */
export const MAX_CUES = 50_000;
const MAX_CUE_CHARACTERS = 2_000;
/** Later times do not fit into the hours of WebVTT's usual form. Milliseconds. */
const MAX_TIME_MS = 1000 * 3600 * 1000;

/** A subtitle file that cannot be read. */
export class InvalidSubtitles extends Error {
  override readonly name = 'InvalidSubtitles';
}

/** Collects valid cues, each trimmed and bounded; others are dropped. */
export class CueList {
  readonly #cues: Cue[] = [];

  get isFull(): boolean {
    return this.#cues.length >= MAX_CUES;
  }

  /** @param text may have blank lines and control characters, but no markup */
  add(startMs: number, endMs: number, text: string): void {
    const lines = text
      .slice(0, MAX_CUE_CHARACTERS)
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
      .replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f\u200b\ufeff]+/g, ' ')
      .split('\n')
      .map((line) => line.replaceAll(/ {2,}/g, ' ').trim())
      .filter((line) => line !== '');
    const isValid = startMs >= 0 && endMs > startMs && endMs < MAX_TIME_MS;
    if (!isValid || lines.length === 0 || this.isFull) return;
    this.#cues.push({ startMs: Math.round(startMs), endMs: Math.round(endMs), text: lines.join('\n') });
  }

  /** In the order of their starts, which WebVTT requires. @throws InvalidSubtitles without any */
  toSorted(): readonly Cue[] {
    if (this.#cues.length === 0) throw new InvalidSubtitles('No cues');
    return this.#cues.toSorted((a, b) => a.startMs - b.startMs);
  }
}
