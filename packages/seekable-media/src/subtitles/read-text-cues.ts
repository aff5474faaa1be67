import { decodeHTML } from 'entities';
import { type Cue, CueList } from './cue.ts';

/** `01:02:03.456`, `02:03.456`, and SRT's `01:02:03,456`. */
const TIMING =
  /^\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})\s*-->\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/;

/**
 * Reads WebVTT and SubRip. Both are lines with a timing line before the text of each cue; headers, numbers, notes and
 * styles have none and are skipped.
 * @throws InvalidSubtitles without any cue
 */
export function readTextCues(text: string): readonly Cue[] {
  const cues = new CueList();
  const lines = text.split(/\r\n|\r|\n/);
  for (let index = 0; index < lines.length && !cues.isFull; index++) {
    const timing = TIMING.exec(lines[index] ?? '');
    if (!timing) continue;
    const content: string[] = [];
    while (index + 1 < lines.length && lines[index + 1]?.trim() !== '' && !TIMING.test(lines[index + 1] ?? ''))
      content.push(lines[++index] ?? '');
    // A cue ends with a blank line. Some files lack those: the next timing line ends it too, and the number in front of that.
    if (lines[index + 1]?.trim() && /^\s*\d+\s*$/.test(content.at(-1) ?? '')) content.pop();
    cues.add(milliseconds(timing.slice(1, 5)), milliseconds(timing.slice(5, 9)), withoutMarkup(content.join('\n')));
  }
  return cues.toSorted();
}

const milliseconds = ([hours = '0', minutes, seconds, fraction = '']: readonly (string | undefined)[]): number =>
  ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(fraction.padEnd(3, '0'));

/** WebVTT's tags (`<c.yellow>`, `<00:01.000>`), SRT's HTML, ASS overrides (`{\an8}`), and character references. */
const withoutMarkup = (text: string): string =>
  decodeHTML(text.replaceAll(/<[^<>\n]{0,300}>/g, '').replaceAll(/\{\\[^{}\n]{0,100}\}/g, ''));
