import { type Cue, CueList, InvalidSubtitles } from './cue.ts';

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
