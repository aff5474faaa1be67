import { SUBTITLE_TYPES, type SubtitleFormat, writeSubtitles } from '../../core/media/subtitles/index.ts';
import type { KeyedSubtitle } from '../../core/state/index.ts';
import type { RepresentationOpener } from '../representation.ts';
import { type OpenSource, openTrack } from '../source/index.ts';
import { readSubtitleFile } from '../subtitles/index.ts';
import { inMemory } from './in-memory.ts';

/** A subtitle file, converted. */
export function subtitle(found: KeyedSubtitle, format: SubtitleFormat, openSource: OpenSource): RepresentationOpener {
  const head = { mimeType: SUBTITLE_TYPES[format], fileExtension: `.${found.subtitle.language}.${format}` };
  return {
    describe: () => ({ ...head, size: undefined, acceptRanges: undefined }),
    async open(session) {
      const source = await openTrack(openSource, found, found.track, session);
      return inMemory(head, Buffer.from(writeSubtitles(await readSubtitleFile(source), format)));
    },
  };
}
