export { createEmbeddedSubtitles, type EmbeddedSubtitles, type EmbeddedText } from './embedded-subtitles.ts';
export { readSubtitleFile } from './read-subtitle-file.ts';
export { selectSubtitle } from './select-subtitle.ts';
