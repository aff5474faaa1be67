import { type Cue, InvalidSubtitles, MAX_SUBTITLE_BYTES } from './cue.ts';
import { readJson3Cues } from './read-json3-cues.ts';
import { readTextCues } from './read-text-cues.ts';
import { readXmlCues } from './read-xml-cues.ts';

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
      return `WEBVTT\n\n${cues.map((cue) => `${timing(cue, '.')}\n${escapeVtt(cue.text)}\n\n`).join('')}`;
    case 'srt':
      return cues.map((cue, index) => `${index + 1}\n${timing(cue, ',')}\n${withoutArrow(cue.text)}\n\n`).join('');
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

const timing = ({ startMs, endMs }: Cue, point: '.' | ','): string =>
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
