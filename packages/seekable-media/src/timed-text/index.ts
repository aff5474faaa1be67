export { chapterTrack } from './chapter-track.ts';
export { languageCode, packLanguage } from './language.ts';
export { TextTooLarge, textSamples } from './text-samples.ts';
export {
  chunkOffsets,
  clipText,
  type TextChunk,
  type TextTrack,
  type TimedText,
  textTables,
  timedText,
} from './text-track.ts';
