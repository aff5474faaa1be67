export { type Cue, InvalidSubtitles, MAX_SUBTITLE_BYTES } from './cue.ts';
export {
  readSubtitles,
  SUBTITLE_FORMATS,
  SUBTITLE_SOURCES,
  SUBTITLE_TYPES,
  type SubtitleFormat,
  writeSubtitles,
} from './subtitles.ts';
