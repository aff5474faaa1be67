import { decodeHTML } from 'entities';
import { type Cue, CueList } from './cue.ts';

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
