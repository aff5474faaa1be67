import { box, DATA_INFORMATION, fullBox, type TrackHeader, UnsupportedMp4, u32 } from '../isobmff/index.ts';
import type { Chapter } from '../parts/chapters.ts';
import type { Span } from '../parts/skipping.ts';
import type { Cue } from './subtitles.ts';

/** Subtitles to embed. */
export interface TimedText {
  /** In the order of their starts. */
  readonly cues: readonly Cue[];
  /** BCP 47. */
  readonly language: string;
}

/** The text of some parts of a presentation that follow each other. @param parts in order */
export function clipText({ cues, language }: TimedText, parts: readonly Span[]): TimedText {
  let outputMs = 0;
  const clipped = parts.map(({ startSeconds, endSeconds }) => {
    const [startMs, lastMs] = [Math.round(startSeconds * TIMESCALE), Math.round(endSeconds * TIMESCALE)];
    const shift = outputMs - startMs;
    outputMs = lastMs + shift;
    return cues
      .filter((cue) => cue.endMs > startMs && cue.startMs < lastMs)
      .map((cue) => ({
        ...cue,
        startMs: Math.max(cue.startMs, startMs) + shift,
        endMs: Math.min(cue.endMs, lastMs) + shift,
      }));
  });
  return { language, cues: clipped.flat() };
}

/** A text track of an output, whose samples are part of the layout. */
export interface TextTrack {
  /** Chapters, to which the tracks of video and audio refer. @default subtitles */
  readonly isChapters?: true;
  readonly header: TrackHeader;
  readonly durationSeconds: number;
  /** At most one per second. */
  readonly chunks: readonly TextChunk[];
}

/** Samples that follow each other in the output. */
export interface TextChunk {
  readonly startSeconds: number;
  readonly samples: readonly TextSample[];
  readonly bytes: Buffer;
}

/** Units per second. */
const TIMESCALE = 1000;
const CHUNK_MS = 1000;
/** The unity matrix, in 16.16 and 2.30 fixed point. */
export const MATRIX = u32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);

/**
 * Subtitles as a track of `tx3g` samples (3GPP TS 26.245); undefined when nothing is shown.
 * @param endSeconds of the presentation
 * @throws TextTooLarge
 */
export function timedText({ cues, language }: TimedText, endSeconds: number): TextTrack | undefined {
  const samples = textSamples(cues, Math.floor(endSeconds * TIMESCALE));
  const last = samples.at(-1);
  if (!last) return undefined;
  return {
    header: textHeader(
      { handler: 'sbtl', name: 'Subtitles', language },
      [fullBox('nmhd', 0, 0), DATA_INFORMATION],
      sampleEntry(),
    ),
    durationSeconds: (last.startMs + last.durationMs) / TIMESCALE,
    chunks: cutChunks(samples),
  };
}

function cutChunks(samples: readonly TextSample[]): TextChunk[] {
  const groups: TextSample[][] = [];
  for (const sample of samples) {
    const group = groups.at(-1);
    if (group?.[0] && sample.startMs - group[0].startMs < CHUNK_MS) group.push(sample);
    else groups.push([sample]);
  }
  return groups.map((group) => ({
    startSeconds: (group[0]?.startMs ?? 0) / TIMESCALE,
    samples: group,
    bytes: Buffer.concat(group.map(({ bytes }) => bytes)),
  }));
}

/**
 * Children of `stbl` but `stsd`; the last one is `chunkOffsets`.
 * @param offsets of the chunks in the output; without them there is room for them
 */
export function textTables({ chunks }: TextTrack, offsets: readonly number[] = []): readonly Buffer[] {
  const samples = chunks.flatMap((chunk) => chunk.samples);
  const runs = chunks.flatMap((chunk, index) =>
    chunks[index - 1]?.samples.length === chunk.samples.length ? [] : [index + 1, chunk.samples.length, 1],
  );
  return [
    fullBox('stts', 0, 0, u32(samples.length), integers(samples.flatMap(({ durationMs }) => [1, durationMs]))),
    fullBox('stsz', 0, 0, u32(0, samples.length), integers(samples.map(({ bytes }) => bytes.length))),
    fullBox('stsc', 0, 0, u32(runs.length / 3), integers(runs)),
    chunkOffsets(chunks.length, offsets),
  ];
}

/** `co64` for as many chunks. */
export function chunkOffsets(count: number, offsets: readonly number[]): Buffer {
  const places = Buffer.alloc(count * 8);
  for (const [index, offset] of offsets.entries()) places.writeUIntBE(offset, index * 8 + 2, 6);
  return fullBox('co64', 0, 0, u32(count), places);
}

/** 32-bit integers, big-endian. Not as arguments: there may be too many. */
function integers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

interface TextMedia {
  /** Four characters. */
  readonly handler: string;
  readonly name: string;
  /** BCP 47. */
  readonly language: string;
}

/** The header of a text track with one sample description. */
export function textHeader(
  { handler, name, language }: TextMedia,
  mediaInformation: readonly Buffer[],
  sampleEntry: Buffer,
): TrackHeader {
  const languageField = Buffer.alloc(4);
  languageField.writeUInt16BE(packLanguage(language));
  return {
    id: 0,
    movieTimescale: TIMESCALE,
    timescale: TIMESCALE,
    durationSeconds: undefined,
    // Reserved, layer, alternate group and volume, then width and height: players choose the size.
    presentation: Buffer.concat([Buffer.alloc(16), MATRIX, Buffer.alloc(8)]),
    language: languageField,
    edits: [],
    media: [
      fullBox(
        'hdlr',
        0,
        0,
        u32(0),
        Buffer.from(handler, 'latin1'),
        Buffer.alloc(12),
        Buffer.from(`${name}\0`, 'latin1'),
      ),
      fullBox('elng', 0, 0, Buffer.from(`${language}\0`, 'latin1')),
    ],
    mediaInformation,
    sampleDescriptions: fullBox('stsd', 0, 0, u32(1), sampleEntry),
    sampleTable: Buffer.alloc(0),
    fragmentDefaults: undefined,
  };
}

/** `tx3g` (§5.16): white text without background, centred at the bottom. */
function sampleEntry(): Buffer {
  const reserved = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]);
  const [centre, bottom] = [1, 0xff];
  const background = [0, 0, 0, 0];
  const textBox = [0, 0, 0, 0, 0, 0, 0, 0];
  // Characters 0 to 0, font 1, no face, size 16, white.
  const style = [0, 0, 0, 0, 0, 1, 0, 16, 0xff, 0xff, 0xff, 0xff];
  const font = Buffer.from('Arial', 'latin1');
  const fonts = box('ftab', Buffer.from([0, 1, 0, 1, font.length]), font);
  const fields = Buffer.from([0, 0, 0, 0, centre, bottom, ...background, ...textBox, ...style]);
  return box('tx3g', reserved, fields, fonts);
}

/** The text that is shown during some time. Milliseconds. */
export interface TextSample {
  readonly startMs: number;
  readonly durationMs: number;
  /** A sample of `tx3g` (3GPP TS 26.245 §5.17): length, then UTF-8. Empty text: nothing is shown. */
  readonly bytes: Buffer;
}

/** Ten hours with a change each second fit into one track. */
export const MAX_TEXT_SAMPLES = 40_000;
/** All samples are part of the layout, in memory. A film has 200 KB. */
const MAX_TOTAL_BYTES = 4 * 1024 * 1024;
/** Cues shown at once; a hostile file has thousands. */
const MAX_LINES_AT_ONCE = 8;
/** Subtitles exceed what a layout holds. */
export class TextTooLarge extends UnsupportedMp4 {}

/** Without text, where the end of the presentation is not known. */
const LAST_SAMPLE_MS = 1;

/** The length of a text has 16 bits. */
const MAX_TEXT_BYTES = 0xffff;

/**
 * The samples of a text track: each moment from 0 to the end has one, so that gaps are samples without text, and cues shown at
 * once are joined by line breaks.
 * @param cues in the order of their starts
 * @param endMs of the presentation: what is shown later is left out. Infinite: unknown
 * @throws TextTooLarge
 */
export function textSamples(cues: readonly Cue[], endMs: number): readonly TextSample[] {
  const shown = cues.filter(({ startMs }) => startMs < endMs);
  const edges = new Set([0]);
  for (const cue of shown) edges.add(cue.startMs).add(Math.min(cue.endMs, endMs));
  // libavformat shows the last sample until the end of the file, whatever its duration: one without text follows.
  if (shown.length > 0) edges.add(Number.isFinite(endMs) ? endMs : lastOf(edges) + LAST_SAMPLE_MS);
  if (edges.size > MAX_TEXT_SAMPLES + 1) throw new TextTooLarge('Too many subtitles');
  const times = [...edges].sort((a, b) => a - b);
  const samples: TextSample[] = [];
  let open: Cue[] = [];
  let next = 0;
  let totalBytes = 0;
  for (const [index, startMs] of times.entries()) {
    const until = times[index + 1];
    if (until === undefined) break;
    open = open.filter((cue) => cue.endMs > startMs);
    for (let cue = shown[next]; cue && cue.startMs <= startMs; cue = shown[++next]) {
      // Further ones are not shown; keeping them would make each step as long as the file.
      if (open.length < MAX_LINES_AT_ONCE) open.push(cue);
    }
    const bytes = open.length === 0 ? NO_TEXT : textSample(open.map((cue) => cue.text).join('\n'));
    totalBytes += bytes.length;
    if (totalBytes > MAX_TOTAL_BYTES) throw new TextTooLarge('Too much text');
    samples.push({ startMs, durationMs: until - startMs, bytes });
  }
  return samples;
}

const NO_TEXT = Buffer.alloc(2);

/** Text as a sample: its length, then UTF-8. */
export function textSample(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(2 + Math.min(Buffer.byteLength(text), MAX_TEXT_BYTES));
  // Whole characters only.
  const written = bytes.write(text, 2);
  bytes.writeUInt16BE(written);
  return bytes.subarray(0, 2 + written);
}

const lastOf = (times: ReadonlySet<number>): number => [...times].reduce((last, time) => Math.max(last, time), 0);

/** Behind the text of a sample: it is UTF-8 (QuickTime File Format, Text Sample Data). */
const ENCODING = box('encd', u32(0x100));
/** Copy, white, in the middle, reserved: 16 bits each (QuickTime File Format, Base Media Info). */
const GRAPHICS_MODE = Buffer.from([0, 0x40, 0x80, 0, 0x80, 0, 0x80, 0, 0, 0, 0, 0]);

const MEDIA_INFORMATION = [box('gmhd', fullBox('gmin', 0, 0, GRAPHICS_MODE), box('text', MATRIX)), DATA_INFORMATION];
/** `text` (Text Sample Description): flags, colours, box, font and its name, of which nothing is shown. */
const SAMPLE_ENTRY = box('text', Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), Buffer.alloc(44));

/**
 * Chapters as the track of text that QuickTime introduced: other tracks refer to it, and players list it instead of showing
 * it. Its samples are one chunk, since players read all of them first.
 * @param chapters in ascending order
 * @param endSeconds of the presentation; infinite: unknown
 */
export function chapterTrack(chapters: readonly Chapter[], endSeconds: number): TextTrack | undefined {
  const first = chapters[0];
  const last = chapters.at(-1);
  if (!first || !last) return undefined;
  const toMs = (seconds: number) => Math.round(seconds * 1000);
  const untitled = { title: '', startSeconds: 0 };
  const named = first.startSeconds > 0 ? [untitled, ...chapters] : chapters;
  const lastEnd = [endSeconds, last.endSeconds].find(Number.isFinite) ?? last.startSeconds + 1;
  const samples = named.map(({ title, startSeconds }, index): TextSample => {
    const startMs = toMs(startSeconds);
    const durationMs = Math.max(1, toMs(named[index + 1]?.startSeconds ?? lastEnd) - startMs);
    return { startMs, durationMs, bytes: Buffer.concat([textSample(title), ENCODING]) };
  });
  const bytes = Buffer.concat(samples.map((sample) => sample.bytes));
  return {
    isChapters: true,
    header: textHeader({ handler: 'text', name: 'Chapters', language: 'und' }, MEDIA_INFORMATION, SAMPLE_ENTRY),
    durationSeconds: lastEnd,
    chunks: [{ startSeconds: 0, samples, bytes }],
  };
}

/** ISO 639-1 and ISO 639-2/T, and `iw`, as which sites still name Hebrew. */
const THREE_LETTERS = new Map(
  `aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul bh:bih bi:bis
    bm:bam bn:ben bo:bod br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces cu:chu cv:chv cy:cym da:dan de:deu dv:div
    dz:dzo ee:ewe el:ell en:eng eo:epo es:spa et:est eu:eus fa:fas ff:ful fi:fin fj:fij fo:fao fr:fra fy:fry ga:gle gd:gla
    gl:glg gn:grn gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye hz:her ia:ina id:ind ie:ile ig:ibo
    ii:iii ik:ipk io:ido is:isl it:ita iu:iku iw:heb ja:jpn jv:jav ka:kat kg:kon ki:kik kj:kua kk:kaz kl:kal km:khm kn:kan
    ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav mg:mlg
    mh:mah mi:mri mk:mkd ml:mal mn:mon mr:mar ms:msa mt:mlt my:mya na:nau nb:nob nd:nde ne:nep ng:ndo nl:nld nn:nno no:nor
    nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por qu:que rm:roh rn:run ro:ron
    ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag si:sin sk:slk sl:slv sm:smo sn:sna so:som sq:sqi sr:srp ss:ssw st:sot
    su:sun sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah
    ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid yo:yor za:zha zh:zho zu:zul`
    .split(/\s+/)
    .map((pair) => pair.split(':') as [string, string]),
);

/** The language in three letters (ISO 639-2/T); `und` where they are unknown. @param language BCP 47 */
export function languageCode(language: string): string {
  const [primary = ''] = language.toLowerCase().split('-');
  return /^[a-z]{3}$/.test(primary) ? primary : (THREE_LETTERS.get(primary) ?? 'und');
}

/** The language field of `mdhd` (ISO/IEC 14496-12 §8.4.2): three letters of 5 bits each. @param language BCP 47 */
export function packLanguage(language: string): number {
  return [...languageCode(language)].reduce((packed, letter) => packed * 32 + letter.charCodeAt(0) - 0x60, 0);
}
