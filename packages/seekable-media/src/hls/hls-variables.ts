import type { HlsLine } from './hls-lines.ts';
import { MAX_LINE_CHARS, MAX_SUBSTITUTED_CHARS, MAX_VARIABLES, PlaylistError } from './hls-text.ts';

/** The variables of one playlist (draft-pantos-hls-rfc8216bis §4.3). Values do not refer to other variables. */
interface HlsVariables {
  /** @param attributes of EXT-X-DEFINE; only NAME and VALUE are supported */
  define(attributes: ReadonlyMap<string, string>): void;
  /** The line with the values of its variables. @throws PlaylistError for an undefined variable, and beyond the limits */
  substitute<T extends HlsLine>(line: T): T;
}

export function createHlsVariables(): HlsVariables {
  const values = new Map<string, string>();
  let substitutedChars = 0;

  const requireValue = (name: string): string => {
    const value = values.get(name);
    if (value === undefined) throw new PlaylistError('Undefined variable in playlist');
    return value;
  };

  return {
    define(attributes) {
      const name = attributes.get('NAME');
      if (!name) return;
      values.set(name, attributes.get('VALUE') ?? '');
      if (values.size > MAX_VARIABLES) throw new PlaylistError('The playlist has too many variables');
    },
    substitute(line) {
      if (values.size === 0 || !line.value.includes('{$')) return line;
      let value = '';
      let at = 0;
      for (let open = line.value.indexOf('{$'); open !== -1; open = line.value.indexOf('{$', at)) {
        const close = line.value.indexOf('}', open);
        if (close === -1) break;
        value += line.value.slice(at, open) + requireValue(line.value.slice(open + 2, close));
        if (value.length > MAX_LINE_CHARS) throw new PlaylistError('A line of the playlist is too long');
        at = close + 1;
      }
      value += line.value.slice(at);
      substitutedChars += value.length;
      if (substitutedChars > MAX_SUBSTITUTED_CHARS) throw new PlaylistError('The playlist is too large');
      return { ...line, value };
    },
  };
}
