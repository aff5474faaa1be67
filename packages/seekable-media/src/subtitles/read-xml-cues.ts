import { decodeHTML } from 'entities';
import { Parser } from 'htmlparser2';
import { type Cue, CueList, InvalidSubtitles } from './cue.ts';

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
