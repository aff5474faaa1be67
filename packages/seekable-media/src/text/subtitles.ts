import { decodeHTML } from 'entities';
import { Parser } from 'htmlparser2';

/** Formats that subtitles are offered in. */
export const SUBTITLE_FORMATS = ['vtt', 'srt', 'txt'] as const;
export type SubtitleFormat = (typeof SUBTITLE_FORMATS)[number];

/** Formats that are read, by yt-dlp's `ext`, best first: those with the least presentation to lose. */
export const SUBTITLE_SOURCES = ['vtt', 'srt', 'ttml', 'dfxp', 'xml', 'json3', 'srv3', 'srv2', 'srv1'] as const;

/**
 * Reads a subtitle file. The format is detected from the content, because sources mislabel files.
 * @param bytes UTF-8, UTF-16 with a byte order mark, the encoding of an XML declaration, or windows-1252
 * @throws InvalidSubtitles for other content, without any cue, or beyond the bounds
 */
export function readSubtitles(bytes: Uint8Array): readonly Cue[] {
  if (bytes.length > MAX_SUBTITLE_BYTES) throw new InvalidSubtitles('Too large');
  const text = decode(bytes);
  const start = text.trimStart().slice(0, 1);
  if (start === '{') return readJson3Cues(text);
  if (start === '<') return readXmlCues(text);
  return readTextCues(text);
}

function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  const text = new TextDecoder().decode(bytes);
  return isBroken(text) ? decoderOf(ENCODING.exec(text)?.[1]).decode(bytes) : text;
}

/** Whether most characters outside ASCII were no UTF-8: a file may have some that are damaged. */
function isBroken(text: string): boolean {
  let excess = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) excess += code === 0xfffd ? 1 : -1;
  }
  return excess > 0;
}

/** What an XML declaration says. */
const ENCODING = /^<\?xml\b[^>]{0,100}?\bencoding=["']([\w.:-]{1,40})["']/;

/** Of a declared encoding that is not UTF-8 or UTF-16, else of windows-1252, which is what browsers take. */
function decoderOf(declared: string | undefined): InstanceType<typeof TextDecoder> {
  try {
    const decoder = new TextDecoder(declared);
    if (!decoder.encoding.startsWith('utf-')) return decoder;
  } catch {
    // Not a name that is known.
  }
  return new TextDecoder('windows-1252');
}

/** Writes cues as a file. */
export function writeSubtitles(cues: readonly Cue[], format: SubtitleFormat): string {
  switch (format) {
    case 'vtt':
      return `WEBVTT\n\n${cues.map((cue) => `${timingLine(cue, '.')}\n${escapeVtt(cue.text)}\n\n`).join('')}`;
    case 'srt':
      return cues.map((cue, index) => `${index + 1}\n${timingLine(cue, ',')}\n${withoutArrow(cue.text)}\n\n`).join('');
    case 'txt':
      return `${transcript(cues).join('\n')}\n`;
  }
}

/** Media types of the formats. */
export const SUBTITLE_TYPES: Readonly<Record<SubtitleFormat, string>> = {
  vtt: 'text/vtt; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

const timingLine = ({ startMs, endMs }: Cue, point: '.' | ','): string =>
  `${clock(startMs, point)} --> ${clock(endMs, point)}`;

function clock(ms: number, point: string): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${point}${String(ms % 1000).padStart(3, '0')}`;
}

/** WebVTT §4.2.2: cue text holds no `&`, `<` or `-->`. */
const escapeVtt = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
/** SubRip has no escapes: a timing within a text would end the cue. */
const withoutArrow = (text: string): string => text.replaceAll('-->', '→');

/** Lines of speech without times. Automatic captions repeat the line before in each cue. */
function transcript(cues: readonly Cue[]): string[] {
  const lines: string[] = [];
  for (const { text } of cues) for (const line of text.split('\n')) if (line !== lines.at(-1)) lines.push(line);
  return lines;
}

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

/** `01:02:03.456`, `02:03.456`, and SRT's `01:02:03,456`. */
const TIMING =
  /^\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})\s*-->\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/;

/** The first line of WebVTT, and of each segment of a list. */
const HEADER = /^\ufeff?WEBVTT(?:\s|$)/;
/** Where a time of the segment is on the clock of the media (RFC 8216 §3.5). */
const TIMESTAMP_MAP =
  /^X-TIMESTAMP-MAP=(?=.*MPEGTS:(\d{1,10})(?!\d))(?=.*LOCAL:(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})\.(\d{1,3}))/;
/** That clock counts 90 a millisecond, in 33 bits. */
const CLOCK_MS = 2 ** 33 / 90;

/**
 * Reads WebVTT and SubRip. WebVTT may consist of the segments of a list: their times follow from those of the first, and what
 * a segment repeats of the one before is left out. Both are lines with a timing line before the text of each cue; headers, numbers, notes and
 * styles have none and are skipped.
 * @throws InvalidSubtitles without any cue
 */
export function readTextCues(text: string): readonly Cue[] {
  const cues = new CueList();
  const lines = text.split(/\r\n|\r|\n/);
  let firstMap: number | undefined;
  let shiftMs = 0;
  let [before, within] = [new Set<string>(), new Set<string>()];
  for (let index = 0; index < lines.length && !cues.isFull; index++) {
    const line = lines[index] ?? '';
    const timing = TIMING.exec(line);
    if (HEADER.test(line)) [before, within, shiftMs] = [within, new Set(), 0];
    const [, ticks, ...local] = TIMESTAMP_MAP.exec(line) ?? [];
    if (ticks !== undefined) {
      const map = Number(ticks) / 90 - milliseconds(local);
      firstMap ??= map;
      shiftMs = Math.round(wrap(map - firstMap));
    }
    if (!timing) continue;
    const content: string[] = [];
    while (index + 1 < lines.length && lines[index + 1]?.trim() !== '' && !TIMING.test(lines[index + 1] ?? ''))
      content.push(lines[++index] ?? '');
    // A cue ends with a blank line. Some files lack those: the next timing line ends it too, and the number in front of that.
    if (lines[index + 1]?.trim() && /^\s*\d+\s*$/.test(content.at(-1) ?? '')) content.pop();
    const [startMs, endMs] = [milliseconds(timing.slice(1, 5)) + shiftMs, milliseconds(timing.slice(5, 9)) + shiftMs];
    const cue = `${startMs} ${endMs} ${content.join('\n')}`;
    within.add(cue);
    if (!before.has(cue)) cues.add(startMs, endMs, withoutMarkup(content.join('\n')));
  }
  return cues.toSorted();
}

/** The clock may restart between two times. */
const wrap = (ms: number): number => ((((ms + CLOCK_MS / 2) % CLOCK_MS) + CLOCK_MS) % CLOCK_MS) - CLOCK_MS / 2;

const milliseconds = ([hours = '0', minutes, seconds, fraction = '']: readonly (string | undefined)[]): number =>
  ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(fraction.padEnd(3, '0'));

/** WebVTT's tags (`<c.yellow>`, `<00:01.000>`), SRT's HTML, ASS overrides (`{\an8}`), and character references. */
const withoutMarkup = (text: string): string =>
  decodeHTML(text.replaceAll(/<[^<>\n]{0,300}>/g, '').replaceAll(/\{\\[^{}\n]{0,100}\}/g, ''));

/**
 * Reads YouTube's `json3`: events with a start, a duration and pieces of text. Events that append to the line before
 * (`aAppend`) carry only its line break.
 * @throws InvalidSubtitles for other JSON
 */
export function readJson3Cues(text: string): readonly Cue[] {
  const cues = new CueList();
  for (const event of list(parse(text), 'events')) {
    if (cues.isFull) break;
    if (event.aAppend) continue;
    const content = list(event, 'segs').map(({ utf8 }) => (typeof utf8 === 'string' ? utf8 : ''));
    cues.add(Number(event.tStartMs), Number(event.tStartMs) + Number(event.dDurationMs), content.join(''));
  }
  return cues.toSorted();
}

type Json = Readonly<Record<string, unknown>>;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidSubtitles('Not JSON', { cause: error });
  }
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

function list(value: unknown, name: string): readonly Json[] {
  const items = isObject(value) ? value[name] : undefined;
  return Array.isArray(items) ? items.filter(isObject) : [];
}

/** Elements inside each other; real files have five. */
const MAX_DEPTH = 64;

interface Timing {
  readonly startMs: number;
  readonly endMs: number;
  /** The text of the element is HTML, escaped as XML once more. @default false */
  readonly isHtml?: boolean;
}

/** How one XML format writes the times of an element; undefined for elements that are not cues. */
type ReadTiming = (name: string, attributes: Readonly<Record<string, string>>) => Timing | undefined;

/**
 * Reads the cues of TTML (W3C TTML2 §8) and of YouTube's `srv1`, `srv2` and `srv3`: elements with times, whose text is the
 * cue's. A linear pass without a document, entity declarations or external references.
 * @throws InvalidSubtitles without any cue, or beyond the bounds
 */
export function readXmlCues(text: string): readonly Cue[] {
  const cues = new CueList();
  const ttml = createTtmlTiming();
  let depth = 0;
  let open: { readonly timing: Timing; readonly depth: number; content: string } | undefined;
  const parser = new Parser(
    {
      onopentag(qualifiedName, attributes) {
        const name = localName(qualifiedName);
        if (++depth > MAX_DEPTH) throw new InvalidSubtitles('Nested too deeply');
        if (name === 'tt') ttml.readParameters(attributes);
        if (open && name === 'br') open.content += '\n';
        const timing = open ? undefined : (ttml.read(name, attributes) ?? readYouTube(name, attributes));
        if (timing) open = { timing, depth, content: '' };
      },
      ontext(piece) {
        // Line breaks of the source are spaces (TTML's default xml:space) except in YouTube's, whose lines end there.
        if (open) open.content += ttml.isTtml ? piece.replaceAll(/\s+/g, ' ') : piece;
      },
      onclosetag() {
        if (open?.depth === depth) {
          const { startMs, endMs, isHtml } = open.timing;
          cues.add(startMs, endMs, isHtml ? textOfHtml(open.content) : open.content);
          open = undefined;
        }
        depth--;
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(text);
  parser.end();
  return cues.toSorted();
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase();

/** A tag of HTML: a letter follows, as in `<font color="#fff">`. Any other `<` is text to a browser (HTML §13.2.5.6). */
const TAG = /<\/?[a-z][^<>]{0,300}>/gi;
const textOfHtml = (html: string): string =>
  decodeHTML(html.replaceAll(TAG, (tag) => (/^<br\b/i.test(tag) ? '\n' : '')));

/** srv1: `<text start="1.5" dur="2">`, in which browsers show HTML. srv2: `<text t="1500" d="2000">`. srv3: `<p t="1500" d="2000">`. */
const readYouTube: ReadTiming = (name, { start, dur, t, d }) => {
  if (name === 'text' && start !== undefined)
    return { ...timing(Number(start) * 1000, Number(dur ?? 0) * 1000), isHtml: true };
  if ((name === 'text' || name === 'p') && t !== undefined) return timing(Number(t), Number(d ?? 0));
  return undefined;
};

const timing = (startMs: number, durationMs: number): Timing => ({ startMs, endMs: startMs + durationMs });

/** TTML's times need the frame and tick rates of the document's root. */
function createTtmlTiming() {
  let frameRate = 30;
  let tickRate = 1;
  const parse = (text: string | undefined): number | undefined => {
    const clock = /^(\d{1,4}):(\d{2}):(\d{2})(?:\.(\d{1,9})|:(\d{1,3})(?:\.\d+)?)?$/.exec(text ?? '');
    if (clock) {
      const [, hours, minutes, seconds, fraction = '0', frames = '0'] = clock;
      const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
      return (whole + Number(`0.${fraction}`) + Number(frames) / frameRate) * 1000;
    }
    const [, value, unit = ''] = /^(\d{1,12}(?:\.\d{1,9})?)(h|ms|m|s|f|t)$/.exec(text ?? '') ?? [];
    const unitsMs = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, f: 1000 / frameRate, t: 1000 / tickRate };
    return value === undefined ? undefined : Number(value) * unitsMs[unit as keyof typeof unitsMs];
  };
  return {
    isTtml: false,
    readParameters(attributes: Readonly<Record<string, string>>) {
      this.isTtml = true;
      const rate = Number(attributes['ttp:frameRate']);
      const [, over = 1, under = 1] = /^(\d+)\s+(\d+)$/.exec(attributes['ttp:frameRateMultiplier'] ?? '') ?? [];
      frameRate = ((rate || frameRate) * Number(over)) / Number(under);
      tickRate = Number(attributes['ttp:tickRate']) || rate || tickRate;
    },
    read(name: string, { begin, end, dur }: Readonly<Record<string, string>>): Timing | undefined {
      const startMs = name === 'p' ? parse(begin) : undefined;
      if (startMs === undefined) return undefined;
      const durationMs = parse(dur);
      const endMs = parse(end) ?? (durationMs === undefined ? undefined : startMs + durationMs);
      return endMs === undefined ? undefined : { startMs, endMs };
    },
  };
}
